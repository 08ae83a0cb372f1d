import type { AppendGroup } from './job-messages.ts';

/** The start of each record in a group's bytes. */
export const startsOf = (lengths: readonly number[]): number[] => {
  let at = 0;
  return lengths.map((length) => (at += length) - length);
};

/** Groups of entries to write at once, each about as large as fits a segment. */
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
