import { compareCodePoints, type WideJson } from '@stemma/canonical';
import { verifyContents } from '@stemma/contents';
import { verifyLog } from '@stemma/log';
import { DEFECTS, standingOf, verifyReplay } from '@stemma/projector';
import { listHistories } from '@stemma/read-models';
import { destroyLmdbRowStore, openLmdbRowStore } from '@stemma/row-store-lmdb';
import { mkdtempSync, readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import type { ReplayReport, VerifyReport } from './home.ts';
import type { Parts } from './open-home.ts';

/** Sizes in bytes, counts, and where each partition's rows stand. */
export const statsOf = async ({ directory, log, projector }: Parts): Promise<Readonly<Record<string, WideJson>>> => {
  await projector.catchUp();
  const ends = await Promise.all(Array.from({ length: log.partitions }, (_, partition) => log.end(partition)));
  return projector.read((view) => {
    const histories = listHistories(view);
    const sum = (pick: (row: (typeof histories)[number]) => number): number =>
      histories.reduce((total, row) => total + pick(row), 0);
    return {
      log: log.id,
      histories: histories.length,
      snapshots: sum(({ snapshots }) => snapshots),
      frames: sum(({ frames }) => frames),
      events: sum(({ events }) => events),
      logBytes: bytesIn(join(directory, 'log')),
      rowBytes: bytesIn(join(directory, 'rows')),
      contentBytes: bytesIn(join(directory, 'contents')),
      partitions: ends.map((end, partition) => {
        const cursor = view.cursor(partition);
        const standing = cursor === null ? null : standingOf(cursor);
        return {
          end,
          rows: standing?.cursor.offset ?? 0,
          accepted: standing?.state.accepted ?? 0,
          fenced: { ...standing?.state.fenced },
          damaged: standing?.state.damage.length ?? 0,
        };
      }),
    };
  });
};

/** Bytes that the files below a folder take on the disk. */
const bytesIn = (folder: string): number => {
  let bytes = 0;
  for (const entry of readdirSync(folder, { recursive: true, withFileTypes: true }))
    if (entry.isFile()) bytes += (statSync(join(entry.parentPath, entry.name), { throwIfNoEntry: false })?.blocks ?? 0) * 512;
  return bytes;
};

/** Builds the rows again: beside the old ones, or (`verify`) in a scratch store beside the home, comparing every row. */
export const replayRows = async (
  { directory, projector }: Parts,
  { verify, progress }: { readonly verify: boolean; readonly progress?: (frames: number) => void },
): Promise<ReplayReport> => {
  const scratch = mkdtempSync(join(directory, 'replay-'));
  try {
    if (!verify) await projector.rebuild();
    const report = await verifyReplay(projector, {
      scratch: () => openLmdbRowStore({ directory: scratch }),
      ...(progress === undefined ? {} : { progress }),
    });
    const { first, seconds, ...counts } = report;
    return {
      ...counts,
      firstDifference:
        first === null ? null : `${first.table} ${first.key.map(String).join(' ')}${first.seq === null ? '' : ` (frame ${first.seq})`}`,
      seconds: Math.round(seconds * 1000) / 1000,
    };
  } finally {
    destroyLmdbRowStore(scratch);
  }
};
