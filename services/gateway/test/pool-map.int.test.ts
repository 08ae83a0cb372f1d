import { createClient, type ApiClient } from '@stemma/api';
import { openHome, type Home } from '@stemma/home';
import { runPool, startPool } from '@stemma/pools';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createGateway } from '../src/gateway.ts';

const directory = mkdtempSync(join(tmpdir(), 'stemma-pool-map-'));
let home: Home;
let client: ApiClient;
beforeAll(async () => {
  home = await openHome({ directory: join(directory, 'home'), create: true });
  const app = createGateway({ home });
  client = createClient(async (url, init) => app.request(url, init), 'http://127.0.0.1');
  await startPool(home, {
    id: 'start',
    name: 'sea',
    by: { actor: 'ann' },
    messages: ['The sea keeps what it is given.', 'Nobody counts the stones.', 'A door is no way.'],
    settings: { sample_size: 2, active_pool_size: 6, seed: 7 },
  });
  await runPool(home, await home.find('sea'), { rounds: 6, actor: 'ann' });
});
afterAll(async () => {
  await home.close();
  rmSync(directory, { recursive: true, force: true });
});

test(
  'the rows of a pool are all its messages, oldest first, with how often rounds showed each',
  { tags: ['pool§7'] },
  async () => {
    const { rows, round, branch_id: branchId } = await client.poolRows({ history: 'sea' });
    expect([rows.length, round, branchId]).toEqual([9, 6, 0]);
    expect(rows.map(({ round: added }) => added)).toEqual([0, 0, 0, 1, 2, 3, 4, 5, 6]);
    expect(rows.filter(({ active }) => active)).toHaveLength(6);
    expect(rows.reduce((sum, { sampled }) => sum + sampled, 0)).toBe(12);
    expect(rows[0]).toMatchObject({
      source: 'seed',
      excerpt: 'The sea keeps what it is given.',
      characters: 31,
    });
  },
);

test(
  'a map has the same coordinates for the same messages and seed, and one point for one text',
  { tags: ['pool§7'] },
  async () => {
    const map = await client.poolMap({ history: 'sea', seed: 3 });
    expect(map).toEqual(await client.poolMap({ history: 'sea', seed: 3 }));
    expect([map.method, map.ids.length, map.x.length, map.y.length]).toEqual(['umap', 9, 9, 9]);
    const { rows } = await client.poolRows({ history: 'sea' });
    expect(map.ids).toEqual(rows.map(({ id }) => id));
    expect(map.texts).toBe(new Set(rows.map(({ excerpt }) => excerpt)).size);
  },
);

test(
  'what is near is listed from a message or a text, nearest first; both, neither and a stranger are refused',
  { tags: ['pool§7'] },
  async () => {
    const { rows } = await client.poolRows({ history: 'sea' });
    const [first] = rows;
    const { near } = await client.poolNear({ history: 'sea', message: first?.id, limit: 100 });
    expect(near).toHaveLength(8);
    const likeness = near.map(({ similarity }) => similarity);
    expect(likeness).toEqual([...likeness].sort((x, y) => y - x));
    const text = await client.poolNear({ history: 'sea', text: 'a door is no way', limit: 1 });
    expect(text.near[0]?.id).toBe(rows.find(({ excerpt }) => excerpt === 'A door is no way.')?.id);
    for (const question of [{}, { message: 'x', text: 'y' }])
      await expect(client.poolNear({ history: 'sea', ...question })).rejects.toMatchObject({
        code: 'E_USAGE',
      });
    await expect(client.poolNear({ history: 'sea', message: 'nobody' })).rejects.toMatchObject({
      code: 'E_NODE_NOT_FOUND',
    });
  },
);

test(
  'a verdict on branches says why too few runs are not judged; a history that is no pool has no map',
  { tags: ['pool§7'] },
  async () => {
    for (const name of ['one', 'two'])
      await client.command({
        history: 'sea',
        body: {
          id: `fork-${name}`,
          actor: 'ann',
          steps: [{ op: 'fork', name, at: { branchId: 0, seq: 5 } }],
        },
      });
    const { branches } = await client.branches({ history: 'sea' });
    for (const name of ['one', 'two'])
      await runPool(home, await home.find(`sea:${name}`), { rounds: 2, actor: 'ann' });
    const [a, b] = ['one', 'two'].map((name) =>
      String(branches.find((branch) => branch.name === name)?.branchId),
    );
    const found = await client.verdict({ history: 'sea', a: a ?? '', b: b ?? '', permutations: 19 });
    expect(found).toMatchObject({ of: 'pool', judged: false, verdict: 'cannot tell', permutations: 19 });
    const report = await client.report({ history: 'sea', a: a ?? '', b: b ?? '', permutations: 19 });
    for (const part of [
      'Verdict: cannot tell',
      'Figures over rounds',
      'Attractors over time',
      'Interventions',
    ])
      expect(report).toContain(part);
    expect(report).toContain(`--branches ${a ?? ''},${b ?? ''} -o report.html --permutations 19 --seed 0`);
    expect(report).not.toContain('<script');
    await expect(client.verdict({ history: 'sea', a: '77', b: '1' })).rejects.toMatchObject({
      code: 'E_BRANCH_NOT_FOUND',
    });
    await client.start({ body: { id: 's', recorder: 'agent', name: 'talk' } });
    for (const ask of [client.poolRows, client.poolMap])
      await expect(ask({ history: 'talk' })).rejects.toMatchObject({ code: 'E_NOT_A_POOL' });
  },
);
