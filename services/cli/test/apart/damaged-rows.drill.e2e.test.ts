import { openDatabase } from '@stemma/postgres';
import { findPostgres, freshDatabase, sized } from '@stemma/test-kit';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { temporaryFolder } from '../run-stemma.ts';
import { startGateway, stemma } from './gateways.ts';
import { openProcesses, startProjector, until, type Place } from './processes.ts';

const postgres = await findPostgres();
/** Rows that are gone, a value that is not what was written, and what shows them. */
const CHANGES = [
  ['delete from SCHEMA.frame_summaries where seq > 2', 'events'],
  ["update SCHEMA.versions set role = 'nobody' where role = 'user'", 'thread'],
  ['delete from SCHEMA.turns', 'thread'],
  ['delete from SCHEMA.branch_names', 'thread'],
] as const;
const SAMPLE = join(import.meta.dirname, '../../../../samples/harbour-tram.chat.json');

it(
  'rows that were changed in the database are refused with 503 and a Retry-After, and built again by their projector',
  { tags: ['decision-0051'], timeout: 120_000 },
  async ({ skip }) => {
    if ('skip' in postgres) return skip(postgres.skip);
    using folder = temporaryFolder();
    const fresh = await freshDatabase(postgres.url);
    const database = openDatabase(fresh.url);
    try {
      await using processes = openProcesses();
      const place: Place = { log: '', rows: fresh.url, home: join(folder.path, 'home') };
      expect(await stemma(processes, place, ['import', SAMPLE, '--history', 'talk'])).toMatchObject({
        code: 0,
      });
      // A projector of an embedded log needs its home.
      startProjector(processes, place);
      const gateway = await startGateway(processes, place, 'gateway');
      const ask = async (what: string) => {
        const response = await fetch(`${gateway.url}/api/histories/talk/${what}`);
        const { status, headers } = response;
        return { status, text: await response.text(), retryAfter: headers.get('retry-after') };
      };
      let first = await ask('thread');
      await until('the thread to be there', async () => (first = await ask('thread')).status === 200).catch(
        (error: unknown) => {
          throw new Error(`${String(error)}\n${first.text}\n${processes.last()}`);
        },
      );

      for (const [change, what] of CHANGES.slice(0, sized(1, CHANGES.length))) {
        const right = (await ask(what)).text;
        const schemas = await database.query(
          "select schemaname from pg_tables where tablename = 'versions' and schemaname like 'stemma\\_rows\\_%'",
        );
        for (const [schema] of schemas) await database.query(change.replace('SCHEMA', schema ?? ''));
        const codes = new Set<string>();
        await until(`the right answer after: ${change}`, async () => {
          const { status, text, retryAfter } = await ask(what);
          if (status === 200) {
            expect(text).toBe(right);
            return codes.size > 0;
          }
          expect(status, text).toBe(503);
          expect(retryAfter).toBe('1');
          codes.add(/E_[A-Z_]+/.exec(text)?.[0] ?? text);
          return false;
        });
        expect([...codes]).toContain('E_ROWS_DAMAGED');
        expect([...codes].filter((code) => !/^E_ROWS_(DAMAGED|BEHIND)$/.test(code))).toEqual([]);
      }
    } finally {
      await database.close();
      await fresh.drop();
    }
  },
);
