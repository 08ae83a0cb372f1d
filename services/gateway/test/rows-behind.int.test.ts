import { createClient, type ApiClient } from '@stemma/api';
import { historyId } from '@stemma/history';
import { openHome, type Home } from '@stemma/home';
import { findPostgres, freshDatabase } from '@stemma/test-kit';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { createGateway } from '../src/index.ts';
import { block, commit } from './airline.ts';

const found = await findPostgres();

/** Rows in a database that nobody folds, under a gateway; what is opened is closed at the end. */
const openStill = (directory: string, rows: string): Promise<Home> =>
  openHome({ directory, create: true, rows, catchUpTimeout: 50 });
const clientOf = (home: Home): ApiClient => {
  const app = createGateway({ home });
  return createClient(async (url, options) => app.request(url, options), '');
};

describe('while no projector folds the rows', async () => {
  if ('skip' in found) {
    it('commands are answered', ({ skip }) => skip(found.skip));
    return;
  }
  const fresh = await freshDatabase(found.url);
  const directory = mkdtempSync(join(tmpdir(), 'stemma-still-'));
  const homes: Home[] = [];
  const open = async (): Promise<Home> => {
    const home = await openStill(directory, fresh.url);
    homes.push(home);
    return home;
  };
  afterAll(async () => {
    for (const home of homes) await home.close();
    rmSync(directory, { recursive: true, force: true });
    await fresh.drop();
  });
  const history = historyId('still', '');
  const line = `${history}:0`;
  const questions = (client: ApiClient) => [
    () => client.start({ body: { id: 'start', recorder: 'agent', name: 'still' } }),
    () =>
      client.command({
        history: line,
        body: { id: 'one', recorder: 'agent', steps: [block('a', 'hello'), commit(1)] },
      }),
    () => client.command({ history: line, body: { id: 'two', recorder: 'agent', steps: [block('b', 'x')] } }),
    () =>
      client.command({
        history: line,
        body: {
          id: 'fork',
          actor: 'Ada',
          steps: [{ op: 'fork', at: { branchId: 0, seq: 2 }, name: 'side' } as never],
        },
      }),
    () =>
      client.command({
        history: line,
        body: { id: 'back', actor: 'Ada', steps: [{ op: 'rollback', to: { branchId: 0, seq: 1 } } as never] },
      }),
  ];

  it(
    'commands that name a branch by its id are recorded and answered, repeated ones get the same answer, also from another gateway, and reads are refused',
    { tags: ['record§3:commands-remembered'] },
    async () => {
      const first = clientOf(await open());
      const answers = [];
      for (const ask of questions(first)) answers.push(await ask());
      expect(answers.map(({ position }) => [position.branchId, position.label, position.cycle])).toEqual([
        [0, '@s0', null],
        [0, '@c1', 1],
        [0, '@s2', 1],
        [3, '@s3', 1],
        [4, '@s4', 1],
      ]);
      expect(answers.map(({ position }) => position.branch)).toEqual([
        history,
        history,
        history,
        `${history}:3`,
        history,
      ]);
      for (const client of [first, clientOf(await open())])
        for (const [i, ask] of questions(client).entries())
          expect(await ask()).toEqual({ ...answers[i], repeated: true });
      await expect(first.history({ history: 'still' })).rejects.toMatchObject({ code: 'E_ROWS_BEHIND' });
      const [home] = homes;
      const answer = await createGateway({ home: home as Home }).request('/api/histories');
      expect([answer.status, answer.headers.get('retry-after')]).toEqual([503, '1']);
    },
  );

  it(
    'a home that answers for another waits for rows, too, which may have been thrown away since that one had them',
    { tags: ['decision-0051'] },
    async () => {
      const answers = await openHome({ directory, rows: fresh.url, catchUpTimeout: 50, folds: false });
      homes.push(answers);
      await expect(answers.find('still')).rejects.toMatchObject({ code: 'E_ROWS_BEHIND' });
    },
  );
});
