import { createHash } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { openAirline, type Airline } from './airline.ts';

let airline: Airline;
beforeAll(async () => {
  airline = await openAirline();
});
afterAll(() => airline.close());

test('compare gives two positions as a page whose policy forbids every script and request', async () => {
  const history = 'airline';
  const page = await airline.client.comparePage({ history, a: '@c2', b: 'main' });
  const policy = /http-equiv="Content-Security-Policy" content="([^"]+)"/
    .exec(page)?.[1]
    ?.replaceAll('&#39;', "'");
  const answered = await airline.app.request('/api/histories/airline/compare.html?a=@c2&b=main');
  expect(answered.headers.get('content-security-policy')).toBe(`${policy}; frame-ancestors 'none'`);
  const sheet = /<style>(.*?)<\/style>/s.exec(await answered.text())?.[1] ?? '';
  expect(policy).toContain(`'sha256-${createHash('sha256').update(sheet).digest('base64')}'`);
  await expect(airline.client.compare({ history, a: '@c2', b: 'nobody' })).rejects.toMatchObject({
    code: 'E_BRANCH_NOT_FOUND',
  });
});

test(
  'interventions are listed in pages, read one by one, and streamed as lines',
  { tags: ['pool:Interventions'] },
  async () => {
    const { home, client } = airline;
    const { history, branchId } = await home.find('airline');
    for (const [i, notes] of ['why not', '=1+1', ''].entries())
      await home.submit({
        id: `inject-${i}`,
        history,
        branchId,
        by: { actor: 'ana' },
        notes,
        steps: [{ op: 'inject', text: `hint ${i}` }],
      });
    const first = await client.interventions({ history, limit: 2, actor: 'ana' });
    const rest = await client.interventions({ history, limit: 2, actor: 'ana', from: first.next ?? 0 });
    const all = [...first.interventions, ...rest.interventions];

    expect(all.map(({ id, notes }) => [id, notes])).toEqual([
      ['inject-0', 'why not'],
      ['inject-1', '=1+1'],
      ['inject-2', ''],
    ]);
    expect(rest.next).toBe(null);
    expect(await client.intervention({ history, id: 'inject-1' })).toEqual(all[1]);
    const impact = await client.impact({ history, id: 'inject-1' });
    expect(impact.brought).toEqual([{ id: all[1]?.content['node'], calls: [], still: false }]);
    const newest = await client.interventions({ history, order: 'newest', limit: 1 });
    expect(newest.interventions).toEqual([all[2]]);

    const lines = await client.interventionLines({ history, actor: 'ana' });
    expect(
      lines
        .trim()
        .split('\n')
        .map((line) => JSON.parse(line) as unknown),
    ).toEqual(all);
    const csv = await client.interventionLines({ history, format: 'csv', type: 'message_inject' });
    expect(csv.split('\r\n')[2]).toContain(`,"'=1+1",`);
    expect(await client.interventionLines({ history, type: 'fork' })).toBe('');
    await expect(client.interventionLines({ history, branch: 'nobody' })).rejects.toMatchObject({
      code: 'E_BRANCH_NOT_FOUND',
    });
  },
);

test(
  'an experiment is read, and repeated with the same hashes; a repetition that is sent several times takes effect once',
  { tags: ['pool:Interventions'] },
  async () => {
    const { client } = airline;
    const experiment = await client.experiment({ history: 'airline', at: '@c3' });
    const first = await client.runExperiment({ body: { experiment, name: 'again' } });
    const second = await client.runExperiment({ body: { experiment, name: 'again' } });

    expect(first).toMatchObject({ repeated: 0, snapshots: 3 });
    expect(second).toEqual({ ...first, repeated: first.commands });
    const [was, is] = await Promise.all(
      ['airline', 'again'].map((history) => client.snapshots({ history, before: 4 })),
    );
    const hashes = (page: typeof was): unknown =>
      page?.snapshots.map(({ treeHash, threadHash }) => [treeHash, threadHash]);
    expect(hashes(is)).toEqual(hashes(was));
    const text = (JSON.parse(experiment) as { end: { tree: string } }).end.tree;
    const wrong = experiment.replaceAll(text, `${text.slice(1)}0`);
    await expect(client.runExperiment({ body: { experiment: wrong } })).rejects.toMatchObject({
      code: 'E_EXPERIMENT_DIVERGED',
    });
    await expect(client.runExperiment({ body: { experiment: '{"a":1}' } })).rejects.toMatchObject({
      code: 'E_EXPERIMENT_INVALID',
    });
  },
);
