import { afterAll, beforeAll, expect, test } from 'vitest';
import { block, commit, openAirline, type Airline } from './airline.ts';

let airline: Airline;
beforeAll(async () => {
  airline = await openAirline();
});
afterAll(() => airline.close());

const act = (id: string, step: object, more: object = {}) =>
  airline.client.command({
    history: 'airline',
    body: { id, actor: 'Ada', notes: 'because', steps: [step as never], ...more },
  });

test(
  'a fork, an injection and a rollback over HTTP are recorded as interventions with actor and reason, once however often they are sent',
  { tags: ['pool:Interventions', 'record§3:commands-remembered'] },
  async () => {
    const forked = await act('f1', { op: 'fork', at: '@c2', name: 'other-way' });
    expect(forked).toMatchObject({ repeated: false, position: { label: '@s5', cycle: 2 } });
    expect(forked.events.map(({ type }) => type)).toEqual(['InterventionRecorded', 'BranchStarted']);
    expect(forked.events[0]).toMatchObject({ intervention: 'fork', notes: 'because' });
    expect(await act('f1', { op: 'fork', at: '@c2', name: 'other-way' })).toEqual({
      ...forked,
      repeated: true,
    });
    await expect(act('f1', { op: 'fork', at: '@c2', name: 'another' })).rejects.toMatchObject({
      code: 'E_COMMAND_REUSED',
    });
    const back = await act('r1', { op: 'rollback', to: '@c2' });
    expect(back.position).toMatchObject({ cycle: 2, branchId: 6 });
    // The name `airline` means the new branch now, and the repetition still finds the one it was for.
    expect(await act('r1', { op: 'rollback', to: '@c2' })).toEqual({ ...back, repeated: true });
    const { branches } = await airline.client.branches({ history: 'airline' });
    expect(
      branches.map(({ branchId, name, how, abandoned_by: left_by, parent }) => [
        branchId,
        name,
        how,
        left_by,
        parent?.label,
      ]),
    ).toEqual([
      [0, null, 'start', 6, undefined],
      [5, 'other-way', 'fork', null, '@c2'],
      [6, 'main', 'rollback', null, '@c2'],
    ]);
    expect(
      (await airline.client.branches({ history: 'airline:other-way', of: '@t0' })).branches.map(
        ({ branchId }) => branchId,
      ),
    ).toEqual([0]);
  },
);

test(
  'a request without an actor, or with an actor or notes beyond the limits, is refused, and nothing is written',
  { tags: ['pool:Interventions'] },
  async () => {
    const { frames } = await airline.client.history({ history: 'airline' });
    const inject = { op: 'inject', text: 'hello' };
    for (const [more, code] of [
      [{ actor: undefined, notes: undefined }, 'E_ACTOR_REQUIRED'],
      [{ actor: '  ' }, 'E_ACTOR_REQUIRED'],
      [{ actor: 'ä'.repeat(200) }, 'E_ACTOR_INVALID'],
      [{ actor: 'a\u001b[31mb' }, 'E_ACTOR_INVALID'],
      [{ notes: 'bell \u0007' }, 'E_NOTES_INVALID'],
      [{ notes: 'x'.repeat(65 * 1024) }, 'E_NOTES_INVALID'],
      [{ recorder: 'agent' }, 'E_COMMAND_INVALID'],
      [{ actor: undefined, notes: undefined, recorder: 'agent' }, 'E_ACTOR_REQUIRED'],
    ] as const)
      await expect(act(`bad-${JSON.stringify(more).slice(0, 40)}`, inject, more)).rejects.toMatchObject({
        code,
      });
    expect((await airline.client.history({ history: 'airline' })).frames).toBe(frames);
  },
);

test(
  'the headers Idempotency-Key and If-Match set id and expected',
  { tags: ['pool:Interventions'] },
  async () => {
    const send = (seq: string) =>
      airline.app.request('/api/histories/airline/commands', {
        method: 'POST',
        headers: { 'content-type': 'application/json', 'idempotency-key': 'k1', 'if-match': seq },
        body: JSON.stringify({ actor: 'Ada', steps: [{ op: 'inject', text: 'hi', source: 'mail' }] }),
      });
    const late = await send('"3"');
    expect([late.status, ((await late.json()) as { error: { code: string } }).error.code]).toEqual([
      409,
      'E_CONFLICT',
    ]);
    const first = (await (await send('6')).json()) as { repeated: boolean; events: { node?: object }[] };
    expect(first.events[1]?.node).toMatchObject({
      content: 'hi',
      data_source: 'mail',
      data_intervention: 'k1',
    });
    expect(((await (await send('6')).json()) as { repeated: boolean }).repeated).toBe(true);
  },
);

test(
  'load rolls back if the saved position is in the past of the branch, and forks otherwise',
  { tags: ['pool:Branches-and-snapshots'] },
  async () => {
    await act('s1', { op: 'save', name: 'start-over', position: '@c1', description: 'before Monday' });
    const { saved } = await airline.client.saved({ history: 'airline' });
    expect(
      saved.map(({ id, parent_id, description, round_number, metrics }) => [
        id,
        parent_id,
        description,
        round_number,
        metrics?.blocks,
      ]),
    ).toEqual([
      ['booked', 'start-over', '', 3, 5],
      ['start-over', null, 'before Monday', 1, 3],
    ]);
    const load = (id: string, from: string) =>
      airline.client.load({ history: 'airline', body: { id, actor: 'Ada', from } });
    expect((await load('l1', '@name:start-over')).events[1]).toMatchObject({ how: 'rollback', at: 1 });
    expect((await load('l2', '@name:booked')).events[1]).toMatchObject({ how: 'fork', parent: 0, at: 3 });
  },
);

test(
  'if the history records observations, several reads by a named actor are recorded as one, outside every branch',
  { tags: ['pool:Observations'] },
  async () => {
    const look = (actor: string) =>
      airline.app.request('/api/histories/airline/thread?at=@c1', { headers: { 'stemma-actor': actor } });
    await look('Ada');
    await act('observe', { op: 'config', set: { observe: true } });
    const { working } = await airline.client.snapshots({ history: 'airline' });
    for (let i = 0; i < 3; i++) await look('Bj%C3%B6rn');
    const { observations } = await until(
      () => airline.client.observations({ history: 'airline' }),
      (answer) => answer.observations.length > 0,
    );
    expect(observations).toMatchObject([{ actor: 'Björn', kind: 'opened', what: '@c1', times: 3 }]);
    expect((await airline.client.snapshots({ history: 'airline' })).working).toEqual(working);
    const after = await airline.record('later', block('later', 'x'), commit(9));
    expect(after.position.cycle).toBe(2);
  },
);

const until = async <T>(ask: () => Promise<T>, done: (value: T) => boolean): Promise<T> => {
  const deadline = Date.now() + 120_000;
  for (;;) {
    const value = await ask();
    if (done(value)) return value;
    if (Date.now() > deadline) throw new Error('it did not come');
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
};

test(
  'a preview shows what the model would be shown after steps, and nothing is recorded',
  { tags: ['record§1'] },
  async () => {
    const { client } = airline;
    const history = 'airline:0';
    const ask = (at: string | undefined, ...steps: readonly object[]) =>
      client.preview({
        history,
        body: { actor: 'Ada', steps: steps as never, ...(at === undefined ? {} : { at }) },
      });
    const before = await client.history({ history });
    const thread = JSON.parse(await client.thread({ history })) as readonly { id: string }[];
    const hint = { op: 'inject', text: 'Ask for the passport.', role: 'system' };
    const injected = await ask(undefined, { ...hint, id: 'hint' });
    expect(injected).toMatchObject({
      position: { committed: false },
      same_first: thread.length,
      before: [],
      after: [{ id: 'hint', role: 'system', content: 'Ask for the passport.' }],
      same_last: 0,
    });
    expect(injected.bytes_after).toBeGreaterThan(injected.bytes_before);
    const edit = { op: 'replace', id: 'policy', set: { content: 'Be brief.' } };
    expect(await ask('@c2', edit)).toMatchObject({
      position: { label: '@c2' },
      same_first: 0,
      before: [{ id: 'policy', content: 'Be kind.' }],
      after: [{ id: 'policy', content: 'Be brief.' }],
      same_last: 4,
    });
    await expect(ask('@c2', { op: 'remove', id: 'ask' })).rejects.toMatchObject({ code: 'E_SEALED' });
    await expect(ask(undefined, { op: 'remove', id: 'nothing' })).rejects.toMatchObject({
      code: 'E_NODE_NOT_FOUND',
    });
    await expect(client.preview({ history, body: { steps: [hint as never] } })).rejects.toMatchObject({
      code: 'E_ACTOR_REQUIRED',
    });
    expect(await client.history({ history })).toEqual(before);
    const fork = { op: 'fork' as const, at: '@c2', name: 'previewed' };
    const { position } = await client.command({ history, body: { id: 'p1', actor: 'Ada', steps: [fork] } });
    const shown = await ask('@c2', edit);
    await client.command({
      history: position.branch,
      body: { id: 'p2', actor: 'Ada', steps: [edit as never] },
    });
    expect((await client.thread({ history: position.branch })).length).toBe(shown.bytes_after);
  },
);
