/**
 * What processes did to a log, as they saw it, and what is wrong with it: in the manner of Jepsen's Kafka workload
 * (https://github.com/jepsen-io/redpanda, workload "queue"), for commands that are answered with a place in a history.
 * Values are commands' ids. A pure function of the recorded operations.
 */
export type Operation =
  /** A command was given to a writer, and what the writer said: a place, `no` (it has no effect), or nothing certain. */
  | {
      readonly kind: 'write';
      readonly process: string;
      readonly history: string;
      readonly value: string;
      readonly outcome: 'ok' | 'no' | 'unknown';
      /** With `ok`. */
      readonly seq?: number;
    }
  /** A reader saw the values of a history from a place on, in this order, without a gap. */
  | {
      readonly kind: 'poll';
      readonly process: string;
      readonly history: string;
      readonly from: number;
      readonly values: readonly string[];
    };

export type Anomalies = {
  /** Acknowledged, and not where it was acknowledged in what some reader saw. */
  readonly lostWrite: readonly string[];
  /** In one history twice. */
  readonly duplicate: readonly string[];
  /** Seen, although its writer was told that it has no effect. */
  readonly abortedRead: readonly string[];
  /** Seen, although nobody wrote it. */
  readonly phantom: readonly string[];
  /** A reader's next poll began behind where the last one ended. */
  readonly skippedPoll: readonly string[];
  /** Two readers saw different values at one place. */
  readonly inconsistentOrder: readonly string[];
};

/** Everything that is wrong with the operations, each named; all lists empty if nothing is. */
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

/** How many of each: what a test of faults says of itself. */
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
