import type { AppendGroup } from './job-messages.ts';

/** Where each record of a group begins in its bytes. */
export const startsOf = (lengths: readonly number[]): number[] => {
  let at = 0;
  return lengths.map((length) => (at += length) - length);
};

/** Entries that are written at once: about as much as fits a segment. */
export function* runsOf(entries: Iterable<number>, group: AppendGroup): Generator<readonly number[]> {
  let run: number[] = [];
  let bytes = 0;
  for (const i of entries) {
    run.push(i);
    bytes += group.lengths[i] ?? 0;
    if (bytes < MAX_WRITE_BYTES) continue;
    yield run;
    run = [];
    bytes = 0;
  }
  if (run.length > 0) yield run;
}

const MAX_WRITE_BYTES = 4 * 1024 * 1024;
