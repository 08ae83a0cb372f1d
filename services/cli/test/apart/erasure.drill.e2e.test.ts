import { openDatabase } from '@stemma/postgres';
import { filesHolding, postgresFolder, startPostgres } from '@stemma/test-kit';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { temporaryFolder } from '../run-stemma.ts';
import { startGateway, stemma } from './gateways.ts';
import { openProcesses, startProjector, until, type Place } from './processes.ts';

const PLANTED = ['planted-content', 'planted-tool', 'planted-note', 'planted-branch', 'planted-attribute'];

it(
  'of an erased history whose rows are in a database no file of a table holds anything, and other histories answer as before',
  { tags: ['decision-0057'], timeout: 240_000 },
  async ({ skip }) => {
    if (postgresFolder() === undefined) return skip('no PostgreSQL here');
    using folder = temporaryFolder();
    const postgres = await startPostgres();
    const database = openDatabase(postgres.url);
    try {
      await using processes = openProcesses();
      const place: Place = { log: '', rows: postgres.url, home: join(folder.path, 'home') };
      const must = async (...args: readonly string[]): Promise<string> => {
        const { code, said } = await stemma(processes, place, args);
        expect(code, `${args.join(' ')}: ${said}\n${processes.last()}`).toBe(0);
        return said;
      };
      const chat = (word: string): string => {
        const file = join(folder.path, `${word}.json`);
        const said = Array.from({ length: 6 }, (_, i) => [
          { role: 'user', content: `${word}-content ${i}` },
          { role: 'assistant', content: `${word}-tool ${i}` },
        ]).flat();
        writeFileSync(file, JSON.stringify(said));
        return file;
      };
      await must('import', chat('other'), '--history', 'other');
      startProjector(processes, place);
      await must('import', chat('planted'), '--history', 'secret', '--erasable');
      await must('fork', 'secret', '@c2', '--name', 'planted-branch', '--actor', 'ada');
      await must('annotate', 'secret', 'planted-note', '--actor', 'ada');
      const gateway = await startGateway(processes, place, 'gateway');
      const ask = async (path: string) => {
        const response = await fetch(`${gateway.url}/api/histories/${path}`);
        return { status: response.status, text: await response.text() };
      };
      const search = async (word: string) => {
        const { status, body } = await fetch(`${gateway.url}/api/search?q=${word}`).then(
          async (response) => ({
            status: response.status,
            body: (await response.json()) as { readonly total?: number },
          }),
        );
        return [status, body.total];
      };
      expect(await search('planted')).toEqual([200, 14]);
      const others = await search('other');
      const right = await ask('other/thread');
      expect(right).toMatchObject({ status: 200 });
      expect(await ask('secret/thread')).toMatchObject({ status: 200 });
      await must('why', 'secret', 'm2');
      await must('stages', 'secret');
      const data = join(postgres.folder, 'data');
      const found = async () => {
        // Statistics would hold values, too.
        await database.query('analyze');
        await database.query('checkpoint');
        return ['base', 'global'].flatMap((part) => filesHolding(join(data, part), PLANTED));
      };
      expect(await found()).not.toEqual([]);
      const [[kept] = []] = await database.query(
        "select count(*) from pg_stats where concat(most_common_vals, histogram_bounds) like '%planted%'",
      );
      expect(kept).toBe('0');

      expect(await must('erase', 'secret', '--yes', '--actor', 'officer')).toContain('is erased');
      expect(await found()).toEqual([]);
      await until('the other history to be served', async () => (await ask('other/thread')).status === 200);
      expect(await ask('other/thread')).toEqual(right);
      expect([await search('planted'), await search('other')]).toEqual([[200, 0], others]);
      expect(await ask('secret/thread')).toMatchObject({ text: expect.stringContaining('E_HISTORY_ERASED') });
      expect(await must('replay', '--verify')).toContain('0 differences');
      expect(await found()).toEqual([]);
    } finally {
      await database.close();
      await postgres.remove();
    }
  },
);
