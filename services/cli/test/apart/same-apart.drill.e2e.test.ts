import { openEmbeddedLog } from '@stemma/log-embedded';
import { openKafkaLog } from '@stemma/log-kafka';
import { findBroker, findPostgres, freshDatabase, sized } from '@stemma/test-kit';
import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import { beforeEach, describe, expect, it } from 'vitest';
import { temporaryFolder } from '../run-stemma.ts';
import { FILES, SYSTEMS, expectHashes, frameHashes, importIn, rowHashes } from '../same-everywhere.ts';
import { openProcesses, startProjector, until, type Place } from './processes.ts';
import { openRows } from './read-apart.ts';

const found = await findBroker();
const brokers = 'skip' in found ? [] : found.brokers;
const postgres = await findPostgres();
const server = 'skip' in postgres ? '' : postgres.url;

describe('a system of processes', () => {
  beforeEach(({ skip }) => {
    if ('skip' in found) skip(found.skip);
    if ('skip' in postgres) skip(postgres.skip);
  });

  it(
    'records the same frames and rows as a single process, with 1 and 6 partitions and 1 and 3 writers, although projectors are killed; also on an empty database',
    { tags: ['record§5:partition'], timeout: 900_000 },
    async () => {
      using folder = temporaryFolder();
      const embedded = join(folder.path, 'embedded');
      await importIn([embedded], '', FILES);
      const own = await openEmbeddedLog({ directory: join(embedded, 'log') });
      const frames = await frameHashes(own);
      const rows = await rowHashes(embedded, own, 'rows');
      await own.close();
      expect(Object.keys(frames).length).toBe(FILES.length);

      for (const [partitions, writers] of SYSTEMS.slice(0, sized(1, 4))) {
        const prefix = `apart-${randomUUID()}`;
        const database = await freshDatabase(server);
        const second = await freshDatabase(server);
        const place: Place = {
          log: `kafka://${brokers.join(',')}/${prefix}`,
          rows: database.url,
          home: join(folder.path, prefix),
        };
        const log = await openKafkaLog({ brokers, prefix, partitions });
        try {
          await using processes = openProcesses();
          startProjector(processes, place);
          const homes = Array.from({ length: writers }, (_, i) => `${place.home}-${i}`);
          const state = { done: false };
          const importing = importIn(homes, place.log, FILES, place.rows).finally(() => (state.done = true));
          const killing = (async () => {
            for (let kills = 0; kills < 3 && !state.done; kills++) {
              const doomed = startProjector(processes, place);
              await until(
                'a projector to have its part',
                () => state.done || doomed.said().includes('partitions'),
              );
              await doomed.end('SIGKILL');
            }
          })();
          await Promise.all([importing, killing]);
          expectHashes(await frameHashes(log), frames);
          startProjector(processes, { ...place, rows: second.url });
          for (const address of [database.url, second.url]) {
            await using open = await openRows(address);
            await open.caughtUp(log).catch((error: unknown) => {
              throw new Error(`${String(error)}\n${processes.last()}`);
            });
            expectHashes(await open.hashes(log), rows);
          }
        } finally {
          await log.close();
          await database.drop();
          await second.drop();
        }
      }
    },
  );
});
