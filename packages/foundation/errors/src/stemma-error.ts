import { withoutCredentials } from './credentials.ts';
import { boundedSentence, echo } from './echo.ts';
import { ERRORS, type ErrorCode, type ErrorRow } from './table.ts';

/** Facts about an error for programs: its place, the values found. Values that JSON can represent. */
export type ErrorDetail = Readonly<Record<string, string | number | boolean | null>>;

/**
 * The one error class: a stable code, a sentence for people, facts for programs. Whatever an input holds, at most 200
 * characters of it stand in the sentence, and in each fact, and no user and password of an address.
 */
export class StemmaError extends Error {
  readonly code: ErrorCode;
  readonly detail: ErrorDetail;

  constructor(code: ErrorCode, message: string, detail: ErrorDetail = {}, options?: { cause?: unknown }) {
    super(boundedSentence(withoutCredentials(message)), options);
    this.name = 'StemmaError';
    this.code = code;
    this.detail = boundedDetail(detail);
  }

  /** HTTP status, exit code, whether a retry can help, and the sentence that says what to do. */
  get row(): ErrorRow {
    return ERRORS[this.code];
  }
}

const boundedDetail = (detail: ErrorDetail): ErrorDetail => {
  const entries = Object.entries(detail);
  if (!entries.some(([, value]) => typeof value === 'string' && bounded(value) !== value)) return detail;
  return Object.fromEntries(
    entries.map(([name, value]) => [name, typeof value === 'string' ? bounded(value) : value]),
  );
};

const bounded = (fact: string): string => echo(withoutCredentials(fact));

/** A new error to throw. */
export const fail = (code: ErrorCode, message: string, detail?: ErrorDetail): StemmaError =>
  new StemmaError(code, message, detail);

/** True for a {@link StemmaError}, and with `code` only for that code. */
export const isStemmaError = (error: unknown, code?: ErrorCode): error is StemmaError =>
  error instanceof StemmaError && (code === undefined || error.code === code);

/** The error with its texts as `redact` gives them; its stack names files only. The same error if nothing changes. */
export const redactedError = (error: unknown, redact: (text: string) => string): unknown => {
  if (!(error instanceof Error)) return error;
  const message = redact(error.message);
  const detail = error instanceof StemmaError ? error.detail : {};
  const entries = Object.entries(detail).map(([name, value]): [string, ErrorDetail[string]] => [
    ...([name, typeof value === 'string' ? redact(value) : value] as const),
  ]);
  if (message === error.message && entries.every(([name, value]) => value === detail[name])) return error;
  const code = error instanceof StemmaError ? error.code : 'E_INTERNAL';
  return new StemmaError(code, message, Object.fromEntries(entries));
};

type ErrorJson = {
  readonly error: {
    readonly code: ErrorCode;
    readonly message: string;
    readonly help: string;
    readonly detail: ErrorDetail;
  };
};

/** The stable JSON of an error, for `--json`. */
export const errorToJson = (error: unknown): ErrorJson => jsonOf(coded(error), 'help');

/** The stable JSON of an error for the HTTP API: its help names no command of the command line. */
export const errorToHttpJson = (error: unknown): ErrorJson => jsonOf(coded(error), 'helpOverHttp');

const coded = (error: unknown): StemmaError =>
  error instanceof StemmaError
    ? error
    : new StemmaError('E_INTERNAL', error instanceof Error ? error.message : String(error));

const jsonOf = ({ code, message, row, detail }: StemmaError, help: 'help' | 'helpOverHttp'): ErrorJson => ({
  error: { code, message, help: row[help], detail },
});
