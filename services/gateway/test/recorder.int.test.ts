import { parseWideJson } from '@stemma/canonical';
import { openHome } from '@stemma/home';
import { openRecorder, type Recorder, type RecorderOptions } from '@stemma/recorder';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { createGateway } from '../src/index.ts';

type Opened = { readonly recorder: Recorder; readonly close: () => Promise<void> };
type Given = Pick<RecorderOptions, 'history' | 'create' | 'recorder' | 'actor'>;

/** The two places that a recorder records to. What follows is tried on both, and must come out the same. */
const PLACES: readonly (readonly [string, (directory: string, given: Given) => Promise<Opened>])[] = [
  [
    'a home',
    async (directory, given) => {
      const recorder = await openRecorder({ home: directory, ...given });
      return { recorder, close: () => recorder.close() };
    },
  ],
  [
    'a server',
    async (directory, given) => {
      const home = await openHome({ directory, create: true });
      const app = createGateway({ home });
      const fetch = async (url: string, init: RequestInit) => app.request(url, init);
      const close = () => home.close();
      try {
        return { recorder: await openRecorder({ url: 'http://127.0.0.1/', fetch, ...given }), close };
      } catch (error) {
        await close();
        throw error;
      }
    },
  ],
];

const using = async (
  open: (typeof PLACES)[number][1],
  fn: (recorder: Recorder, directory: string) => Promise<void>,
): Promise<void> => {
  const folder = mkdtempSync(join(tmpdir(), 'stemma-recorder-'));
  try {
    const { recorder, close } = await open(join(folder, 'home'), { history: 'desk', recorder: 'agent' });
    await fn(recorder, join(folder, 'home')).finally(close);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
};

test.each(PLACES)(
  '%s records steps one by one and as one command, and answers queries about them',
  (_, open) =>
    using(open, async (desk) => {
      // Not waited for: commands keep their order.
      const first = desk.insert('^sys', { id: 'rules', role: 'system', content: 'Be brief.' });
      const second = desk.insert('^ah', { id: 'ask', content: 'A question.', data_n: 1 });
      expect([await first, await second]).toEqual([
        { seq: 1, label: '@s1', repeated: false, ids: ['rules'] },
        { seq: 2, label: '@s2', repeated: false, ids: ['ask'] },
      ]);
      expect(await desk.commit()).toMatchObject({ seq: 3, label: '@c1' });
      expect(
        await desk.batch((batch) =>
          batch
            .insert('^ah', { id: 'note', offset: -1, ttl: 1, content: 'A note.' })
            .insert('^ah', { id: 'wrong', content: 'A slip.' })
            .replace('rules', { content: 'Be kind.' })
            .remove('wrong')
            .commit('turn-2')
            .name('here'),
        ),
      ).toEqual({ seq: 4, label: '@c2', repeated: false, ids: ['note', 'wrong'] });
      expect(await desk.select('@t0 ^seq .cb')).toEqual(['ask', 'note']);
      expect(await desk.select('@t0 ^seq .cb', { skip: 1 })).toEqual(['note']);
      expect(await desk.diff('@c1', '@name:here')).toEqual({
        added: ['turn-2', 'note'],
        removed: [],
        changed: [{ id: 'rules', fields: ['content_hash'] }],
      });
      expect((await desk.snapshots()).map(({ label, blocks }) => [label, blocks])).toEqual([
        ['@c1', 2],
        ['@c2', 3],
      ]);
      expect(parseWideJson(await desk.thread('@c1'), 'the thread')).toMatchObject([
        { id: 'rules' },
        { id: 'ask' },
      ]);
      expect(parseWideJson(await desk.export(), 'the export')).toMatchObject({ cycle: 2 });
    }),
);

test.each(PLACES)(
  '%s records the message lists of an existing agent, and gives them back as they were sent',
  (_, open) =>
    using(open, async (desk) => {
      const messages: { role: string; content: string }[] = [
        { role: 'system', content: 'Be kind.' },
        { role: 'user', content: 'Hello' },
      ];
      expect(await desk.recordCall(messages)).toMatchObject({ label: '@c1', kept: 0, inserted: 2 });
      messages.push({ role: 'assistant', content: 'Hi' }, { role: 'user', content: 'More' });
      const sent = { id: 'call-2' };
      expect(await desk.recordCall(messages, sent)).toMatchObject({
        label: '@c2',
        kept: 2,
        inserted: 2,
        repeated: false,
      });
      expect(await desk.recordCall(messages, sent)).toMatchObject({
        label: '@c2',
        inserted: 2,
        repeated: true,
      });
      messages.splice(1, 2);
      expect(await desk.recordCall(messages)).toMatchObject({ label: '@c3', kept: 2, removed: 2 });
      expect(parseWideJson(await desk.messages('@c3'), 'the messages')).toEqual(messages);
    }),
);

test.each(PLACES)('%s refuses with the same coded errors', (_, open) =>
  using(open, async (desk, directory) => {
    const refused: readonly (readonly [() => Promise<unknown>, string])[] = [
      [() => desk.remove('nobody'), 'E_NODE_NOT_FOUND'],
      [() => desk.insert('^ah', { content: 'late' }, { expected: 77 }), 'E_CONFLICT'],
      [() => desk.recordCall([{ role: 'robot', content: 'x' }]), 'E_ROLE_UNKNOWN'],
      [() => desk.select('.cb['), 'E_SELECTOR_INVALID'],
      [() => desk.thread('@c9'), 'E_SNAPSHOT_NOT_FOUND'],
      [() => open(directory, { history: 'nobody', create: false, recorder: 'agent' }), 'E_HISTORY_NOT_FOUND'],
      [() => open(directory, { history: 'desk' }), 'E_USAGE'],
    ];
    for (const [asked, code] of refused) await expect(asked()).rejects.toMatchObject({ code });
  }),
);

/** What observers did, as an auditor lists it. */
const interventionsIn = async (directory: string) => {
  const home = await openHome({ directory });
  const { interventions } = await home.queries.audit.interventions(await home.find('desk'));
  await home.close();
  return interventions;
};

test.each(PLACES)('%s records interventions with their actor and reason', (_, open) =>
  using(open, async (desk, directory) => {
    await desk.insert('^ah', { id: 'slip', content: 'A slip.' });
    await expect(desk.inject('Stop.')).rejects.toMatchObject({ code: 'E_ACTOR_REQUIRED' });
    const { recorder: reviewer, close } = await open(directory, { history: 'desk', actor: 'reviewer' });
    await reviewer.remove('slip', { notes: 'It was wrong.' });
    await reviewer.recordCall([{ role: 'user', content: 'By hand.' }], { notes: 'It went wrong.' });
    await reviewer.batch(
      (one) => one.inject('Stop.', { id: 'stop', role: 'system', ttl: 1 }).commit().save({ name: 'stopped' }),
      { notes: 'Enough.' },
    );
    await close();
    expect(await desk.select('@c2 #stop')).toEqual(['stop']);
    expect(await desk.select('@name:stopped #stop')).toEqual(['stop']);
    expect(
      (await interventionsIn(directory)).map(({ actor, intervention_type, notes }) => [
        actor,
        intervention_type,
        notes,
      ]),
    ).toEqual([
      ['reviewer', 'edit', 'It was wrong.'],
      ['reviewer', 'edit', 'It went wrong.'],
      ['reviewer', 'message_inject', 'Enough.'],
    ]);
  }),
);

test.each(PLACES)(
  '%s forks and rolls back: each recorder stays on its branch, and commands after a rollback go to the branch that continues',
  { tags: ['context-tree§5:fork', 'context-tree§5:rollback'] },
  (_, open) =>
    using(open, async (desk, directory) => {
      const say = (to: Recorder, id: string) =>
        to.batch((one) => one.insert('^ah', { id, content: id }).commit());
      await say(desk, 'one');
      await desk.save({ name: 'begun', description: 'before all' });
      await say(desk, 'two');

      const other = await desk.fork({ at: '@name:begun', name: 'other', description: 'what if' });
      expect([other.history, other.branch === desk.branch]).toEqual([desk.history, false]);
      await say(other, 'else');
      expect(await other.select('@t0 ^seq .cb')).toEqual(['one', 'else']);
      expect(await desk.select('@t0 ^seq .cb')).toEqual(['one', 'two']);

      // Not waited for.
      const back = desk.rollback('@c1', { abandoned: 'left', description: 'two was wrong' });
      const next = say(desk, 'three');
      expect(await back).toMatchObject({ label: '@s6', repeated: false });
      expect(await next).toMatchObject({ label: '@c2' });
      expect(await desk.select('@t0 ^seq .cb')).toEqual(['one', 'three']);
      expect(desk.branch).toBe(desk.history);

      const own = other.branch;
      await other.rollback('@c1');
      await say(other, 'again');
      expect(other.branch).not.toBe(own);
      expect(await other.select('@t0 ^seq .cb')).toEqual(['one', 'again']);

      for (const [name, ids] of [
        ['desk', ['one', 'three']],
        ['desk:other', ['one', 'again']],
        ['desk:left', ['one', 'two']],
      ] as const) {
        const { recorder, close } = await open(directory, {
          history: name,
          create: false,
          recorder: 'reader',
        });
        expect(await recorder.select('@t0 ^seq .cb')).toEqual(ids);
        await close();
      }
      await other.close();
      // The one that it came from is still open.
      expect(await say(desk, 'four')).toMatchObject({ label: '@c3' });
    }),
);
