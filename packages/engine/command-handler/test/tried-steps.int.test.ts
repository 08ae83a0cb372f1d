import { canonicalJson, type WideJson } from '@stemma/canonical';
import { tryInFork } from '@stemma/command-handler';
import { threadBytes } from '@stemma/context-tree';
import { historyId, type Step } from '@stemma/history';
import { branchRefOf } from '@stemma/history-store';
import { openMemoryLog } from '@stemma/log';
import { readThreadLength } from '@stemma/read-models';
import { memoryServices, temporaryHome } from '@stemma/test-kit/home';
import { expect, test } from 'vitest';

const TURNS = 300;

/** A history of turns, and its projector; `asked` has the frames whose payloads somebody wants. */
const openTurns = async (directory: string, turns: number) => {
  const services = memoryServices(await openMemoryLog(), directory);
  const { handler, projector } = services;
  const history = historyId('long', '');
  const submit = (id: string, steps: readonly Step[]) =>
    handler.submit({ id, history, branchId: 0, by: { recorder: 'test' }, steps: [...steps] });
  await submit('start', [{ op: 'start', name: 'long' }]);
  await submit('rules', [
    { op: 'insert', parent: '^sys', node: { id: 'rules', nodeType: 'cb', content: 'r' } },
  ]);
  for (let turn = 1; turn <= turns; turn++)
    await submit(`turn-${turn}`, [
      block(`${turn}`),
      ...(turn % 50 === 0
        ? [block('fades', { ttl: 3 }), block('can go', { id: `go-${turn}`, offset: 1 })]
        : []),
      { op: 'commit' },
    ]);
  await projector.catchUp();
  const asked = new Set<number>();
  const counted: typeof projector = {
    ...projector,
    payloads: {
      ...projector.payloads,
      using: (of, fn, frameAt) =>
        projector.payloads.using(of, (source) => fn((ref) => (asked.add(ref.seq), source(ref))), frameAt),
    },
  };
  const position = (at: string) => services.position(branchRefOf(history, 0), at);
  return { projector, counted, asked, position, view: services.view, submit };
};

const block = (content: string, more: object = {}): Step => ({
  op: 'insert',
  parent: '^ah',
  node: { nodeType: 'cb', role: 'user', content, ...more },
});

/** What two threads differ in, found by looking at all of their messages. */
const differenceOf = (before: string, after: string) => {
  const [old, fresh] = [before, after].map((text) => (JSON.parse(text) as WideJson[]).map(canonicalJson)) as [
    string[],
    string[],
  ];
  let [first, last] = [0, 0];
  while (first < Math.min(old.length, fresh.length) && old[first] === fresh[first]) first++;
  const most = Math.min(old.length, fresh.length) - first;
  while (last < most && old.at(-1 - last) === fresh.at(-1 - last)) last++;
  return {
    sameFirst: first,
    before: old.slice(first, old.length - last),
    after: fresh.slice(first, fresh.length - last),
    sameLast: last,
    bytesBefore: before.length,
    bytesAfter: after.length,
  };
};

const TRIED: Readonly<Record<string, readonly Step[]>> = {
  'at the end': [block('what if', { id: 'new' })],
  'in `^sys`': [{ op: 'insert', parent: '^sys', node: { id: 'new', nodeType: 'cb', content: 'é' } }],
  'of the rules': [{ op: 'replace', id: 'rules', set: { content: 'other rules' } }],
  'of rules that go': [{ op: 'remove', id: 'rules' }],
  'in a turn': [{ op: 'remove', id: 'go-100' }],
  'with a commit': [block('what if', { id: 'new' }), { op: 'commit' }],
  'of nothing': [{ op: 'annotate', note: 'nothing' }],
};

test.each(Object.entries(TRIED))(
  'what steps change in a thread is what both whole threads say, read of a few frames: %s',
  async (_, steps) => {
    using at = temporaryHome();
    const { projector, counted, asked, position, view, submit } = await openTurns(at.directory, TURNS);
    const compare = async (ref: string): Promise<void> => {
      const where = await position(ref);
      const how = { by: { actor: 'ann' }, steps: [...steps] };
      // What is folded on demand reads every frame once.
      await projector.read((rows) => readThreadLength(rows, where.history, where.branchId, where.seq));
      asked.clear();
      const found = await (await tryInFork(counted, where, how, 0n)).difference();
      expect(asked.size).toBeLessThan(20);
      const after = await (await tryInFork(counted, where, how, 0n)).thread();
      expect(asked.size).toBeGreaterThan(100);
      const { tree, payloads, thread } = await view(where);
      expect(found).toEqual(differenceOf(threadBytes(tree, payloads, thread), after));
    };
    await compare('');
    await compare('@c152');
    await submit('draft', [block('not committed')]);
    await projector.catchUp();
    await compare('');
  },
);

test('what differs on both sides of turns that are not loaded, only the whole threads say', async () => {
  using at = temporaryHome();
  const { counted, position } = await openTurns(at.directory, 10);
  const steps = [...TRIED['in `^sys`']!, block('and at the end')];
  const tried = await tryInFork(counted, await position(''), { by: { actor: 'ann' }, steps }, 0n);
  expect(await tried.difference()).toBeUndefined();
  expect(JSON.parse(await tried.thread())).toHaveLength(13);
});

test('what a model would be shown after steps is read of a long history in a few reads, not in one for each turn', async () => {
  using at = temporaryHome();
  const services = memoryServices(await openMemoryLog(), at.directory);
  const { handler, projector } = services;
  const history = historyId('long', '');
  const submit = (id: string, steps: readonly Step[]) =>
    handler.submit({ id, history, branchId: 0, by: { recorder: 'test' }, steps: [...steps] });
  await submit('start', [{ op: 'start', name: 'long' }]);
  for (let turn = 1; turn <= TURNS; turn++)
    await submit(`turn-${turn}`, [block(`${turn}`), { op: 'commit' }]);
  await projector.catchUp();
  const position = await services.position(branchRefOf(history, 0), '');
  let reads = 0;
  const counted: typeof projector = {
    ...projector,
    read: (fn) => {
      reads++;
      return projector.read(fn);
    },
  };
  const tried = await tryInFork(counted, position, { by: { actor: 'ann' }, steps: [block('what if')] }, 0n);
  const after = await tried.thread();
  expect(reads).toBeLessThan(30);
  const { tree, payloads, thread } = await services.view(position);
  const before = threadBytes(tree, payloads, thread);
  expect(after.startsWith(before.slice(0, -1))).toBe(true);
  expect(JSON.parse(after)).toHaveLength(TURNS + 1);
});
