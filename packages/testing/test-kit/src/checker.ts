/**
 * An operation on a log, as a process saw it. `checkOperations` looks for anomalies among them, as Jepsen's Kafka workload
 * does (https://github.com/jepsen-io/redpanda, workload "queue"). A value is the id of a command; its answer is the
 * number that it got in a history.
 */
export type Operation =
  /** A command was given to a writer, which answered a number, `no` (it has no effect), or nothing certain. */
  | {
      readonly kind: 'write';
      readonly process: string;
      readonly history: string;
      readonly value: string;
      readonly outcome: 'ok' | 'no' | 'unknown';
      /** The number, with `ok`. */
      readonly seq?: number;
    }
  /** A reader saw the values of a history from a number on, in this order, without a gap. */
  | {
      readonly kind: 'poll';
      readonly process: string;
      readonly history: string;
      readonly from: number;
      readonly values: readonly string[];
    };

export type Anomalies = {
  /** Acknowledged, but some reader saw another value at its number. */
  readonly lostWrite: readonly string[];
  /** Seen twice in one history. */
  readonly duplicate: readonly string[];
  /** Seen, although the writer answered that it has no effect. */
  readonly abortedRead: readonly string[];
  /** Seen, although nobody wrote it. */
  readonly phantom: readonly string[];
  /** A reader's next poll began after the end of its last one, and left values out. */
  readonly skippedPoll: readonly string[];
  /** Two readers saw different values at the same number. */
  readonly inconsistentOrder: readonly string[];
};

/** All anomalies among the operations; every list is empty if there are none. */
export const checkOperations = (operations: readonly Operation[]): Anomalies => {
  const positions = new Map<string, Map<number, string>>();
  const inconsistentOrder: string[] = [];
  const skippedPoll: string[] = [];
  const reached = new Map<string, number>();
  for (const operation of operations) {
    if (operation.kind !== 'poll') continue;
    const { process, history, from, values } = operation;
    const reader = `${process} ${history}`;
    if (from > (reached.get(reader) ?? 0)) skippedPoll.push(`${reader} ${reached.get(reader) ?? 0}–${from}`);
    reached.set(reader, Math.max(from + values.length, reached.get(reader) ?? 0));
    const seen = positions.get(history) ?? new Map<number, string>();
    positions.set(history, seen);
    for (const [i, value] of values.entries()) {
      const before = seen.get(from + i);
      if (before !== undefined && before !== value)
        inconsistentOrder.push(`${history} ${from + i}: ${before}, ${value}`);
      else seen.set(from + i, value);
    }
  }
  const writes = operations.filter((operation) => operation.kind === 'write');
  return {
    lostWrite: writes
      .filter(
        ({ outcome, history, seq, value }) =>
          outcome === 'ok' && positions.get(history)?.get(seq ?? -1) !== value,
      )
      .map(({ history, seq, value }) => `${history} ${seq ?? '?'}: ${value}`),
    duplicate: [...positions].flatMap(([history, seen]) => twice(history, [...seen.values()])),
    abortedRead: seenOf(positions, (history, value) => {
      const answers = writes.filter((write) => write.history === history && write.value === value);
      return answers.length > 0 && answers.every(({ outcome }) => outcome === 'no');
    }),
    phantom: phantoms(positions, writes),
    skippedPoll,
    inconsistentOrder,
  };
};

type ValuePositions = ReadonlyMap<string, ReadonlyMap<number, string>>;
type Write = Extract<Operation, { kind: 'write' }>;

const twice = (history: string, values: readonly string[]): readonly string[] => {
  const seen = new Set<string>();
  return values.filter((value) => seen.size === seen.add(value).size).map((value) => `${history}: ${value}`);
};

const phantoms = (positions: ValuePositions, writes: readonly Write[]): readonly string[] => {
  const written = new Set(writes.map(({ history, value }) => `${history} ${value}`));
  return seenOf(positions, (history, value) => !written.has(`${history} ${value}`));
};

const seenOf = (
  positions: ValuePositions,
  is: (history: string, value: string) => boolean,
): readonly string[] =>
  [...positions].flatMap(([history, seen]) =>
    [...seen.values()].filter((value) => is(history, value)).map((value) => `${history}: ${value}`),
  );

/** The number of anomalies of each kind. */
export const countAnomalies = (anomalies: Anomalies): Readonly<Record<keyof Anomalies, number>> => ({
  lostWrite: anomalies.lostWrite.length,
  duplicate: anomalies.duplicate.length,
  abortedRead: anomalies.abortedRead.length,
  phantom: anomalies.phantom.length,
  skippedPoll: anomalies.skippedPoll.length,
  inconsistentOrder: anomalies.inconsistentOrder.length,
});

export const NO_ANOMALIES: ReturnType<typeof countAnomalies> = {
  lostWrite: 0,
  duplicate: 0,
  abortedRead: 0,
  phantom: 0,
  skippedPoll: 0,
  inconsistentOrder: 0,
};
