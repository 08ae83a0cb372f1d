import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { openDirectoryContents } from '@stemma/contents';
import { openEmbeddedLog } from '@stemma/log-embedded';
import { openProjector } from '@stemma/projector';
import { openThreads } from '@stemma/projector-threads';
import { READ_MODELS } from '@stemma/read-models';
import { openLmdbRowStore } from '@stemma/row-store-lmdb';

export type Replayed = {
  readonly events: number;
  readonly seconds: number;
  /** Of the rows on disk, where there are any. */
  readonly bytes?: number;
};

/** Builds the rows of all read models (but one) anew from the first record of a home's log, in a store of their own. */
export const rebuild = async (input: {
  readonly directory: string;
  readonly without?: string;
  /** Read models on demand are left out, as in a home where nobody has asked for one. */
  readonly onDemand?: boolean;
  /** Threads that fold. */
  readonly workers?: number;
}): Promise<Replayed> => {
  const home = join(input.directory, 'home');
  const rows = join(input.directory, 'rebuilt');
  rmSync(rows, { recursive: true, force: true });
  const log = await openEmbeddedLog({ directory: join(home, 'log') });
  const contents = await openDirectoryContents(join(home, 'contents'));
  const store = openLmdbRowStore({ directory: rows });
  let events = 0;
  const models = READ_MODELS.filter(({ name }) => name !== input.without);
  const projector = openProjector({
    eager: input.onDemand === true ? () => false : 'all',
    // As a home does.
    limits: { rows: 2_000 },
    ...(input.workers !== undefined && { runPartition: openThreads({ workers: { count: input.workers } }) }),
    log,
    contents,
    store,
    models,
    progress: (at) => (events = at.events),
  });
  const started = performance.now();
  await projector.rebuild();
  const seconds = (performance.now() - started) / 1_000;
  const bytes = await store.bytes();
  await store.close();
  await contents.close();
  await log.close();
  rmSync(rows, { recursive: true, force: true });
  return { events, seconds, bytes };
};
