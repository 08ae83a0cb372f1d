import { sha256 } from '@stemma/canonical';

/** The partition of a history, which never changes (record §5). Control histories name their own. */
export const partitionOf = (history: string, partitions: number): number => {
  if (partitions === 1) return 0;
  const digest = sha256(history);
  return (((digest[0]! << 24) | (digest[1]! << 16) | (digest[2]! << 8) | digest[3]!) >>> 0) % partitions;
};

/** True if frames of the history belong to this partition of a log with so many. */
export const livesIn = (
  history: string,
  { partition, partitions }: { readonly partition: number; readonly partitions: number },
): boolean => (controlOf(history)?.partition ?? partitionOf(history, partitions)) === partition;

/** The `n`-th control history of a partition: `log:P`, and `log:P/1` … when those before it are damaged (record §2). */
export const controlHistory = (partition: number, n: number): string =>
  n === 0 ? `log:${partition}` : `log:${partition}/${n}`;

/** The control history that an id names, or undefined if it names none. */
export const controlOf = (history: string): { partition: number; n: number } | undefined => {
  if (!history.startsWith('log:')) return undefined;
  const [, partition, n] = /^log:(0|[1-9]\d{0,8})(?:\/([1-9]\d{0,8}))?$/.exec(history) ?? [];
  return partition === undefined ? undefined : { partition: Number(partition), n: Number(n ?? 0) };
};
