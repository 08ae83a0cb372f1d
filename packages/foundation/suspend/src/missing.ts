/** One kind of thing that a synchronous read may lack, such as payloads or rows. Compared by identity. */
export type MissingKind<Need> = {
  /** The plural for messages. */
  readonly name: string;
  /** Equal keys, as a `Set` compares them, for needs that one fetch satisfies. */
  keyOf(need: Need): unknown;
};

/** A new kind. Without `keyOf`, two needs are the same when they are the same object. */
export const missingKind = <Need>(
  name: string,
  keyOf: (need: Need) => unknown = (need) => need,
): MissingKind<Need> => ({ name, keyOf });

/** Not an error: a synchronous function asks its caller to fetch these needs and to call it again. */
export class Missing<Need = unknown> extends Error {
  readonly kind: MissingKind<Need>;
  readonly needs: readonly Need[];

  constructor(kind: MissingKind<Need>, needs: readonly Need[]) {
    const limit = Error.stackTraceLimit;
    // It is thrown for each thing that is missing, and nobody reads its stack.
    Error.stackTraceLimit = 0;
    super(`${kind.name} must be fetched first`);
    Error.stackTraceLimit = limit;
    this.name = 'Missing';
    this.kind = kind;
    this.needs = needs;
  }
}

/** The signal to throw when `needs` are not in memory. The function that throws it must not have changed anything. */
export const missing = <Need>(kind: MissingKind<Need>, needs: readonly Need[]): Missing<Need> =>
  new Missing(kind, needs);

/** True for the signal, and with `kind` only for that kind. */
export const isMissing = <Need = unknown>(error: unknown, kind?: MissingKind<Need>): error is Missing<Need> =>
  error instanceof Missing && (kind === undefined || error.kind === kind);
