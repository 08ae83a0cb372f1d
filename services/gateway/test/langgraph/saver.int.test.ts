import { AIMessage, type BaseMessage } from '@langchain/core/messages';
import { type BaseCheckpointSaver, type Checkpoint, MemorySaver } from '@langchain/langgraph';
import { StemmaSaver } from '@stemma/langgraph';
import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { openRecording } from '../recording/fixture.ts';
import { allow, ask, depthGraph, type Channels } from './graph.ts';

let at: ReturnType<typeof openRecording>;
let url: string;
beforeEach(async () => {
  at = openRecording();
  url = await at.serve();
});
afterEach(() => at.close());

/** The node of a call. */
const CALL: unknown = expect.stringContaining('{');

const config = { configurable: { thread_id: 'depth' } };
const saver = (options: ConstructorParameters<typeof StemmaSaver>[0] = {}): StemmaSaver =>
  new StemmaSaver({ url, ...options });

const all = async (of: BaseCheckpointSaver, thread?: string): Promise<string[]> => {
  const found = [];
  for await (const tuple of of.list({ configurable: thread === undefined ? {} : { thread_id: thread } }))
    found.push(JSON.stringify(tuple));
  return found;
};

const said = (messages: readonly BaseMessage[]): string[] =>
  messages.map(({ id, text }) => `${id ?? ''}: ${text}`);

const get = async (path: string): Promise<Record<string, unknown>> =>
  (await (await fetch(`${url}/api/${path}`)).json()) as Record<string, unknown>;

/** Asks, allows, goes back to where the tool was interrupted, and takes another way from there. */
const playedWith = async (own: BaseCheckpointSaver, channels: Channels) => {
  const graph = depthGraph(own, channels);
  await graph.invoke(ask('How deep?'), config);
  const interrupted = await graph.getState(config);
  await graph.invoke(allow('12 m'), config);
  const end = await graph.getState(config);
  const other = await graph.updateState(interrupted.config, {
    messages: [
      new AIMessage({
        id: 'look1',
        content: 'I look there.',
        tool_calls: [{ name: 'depth', args: { at: 2 }, id: 'call' }],
      }),
    ],
  });
  await graph.invoke(null, other);
  await graph.invoke(allow('7 m'), config);
  const states = [];
  for await (const state of graph.getStateHistory(config)) states.push(state);
  return {
    graph,
    question: interrupted.tasks.flatMap(({ interrupts }) => interrupts.map(({ value }) => value as unknown)),
    first: {
      said: said(end.values.messages),
      budget: end.values.budget,
      again: await graph.getState(end.config),
    },
    second: said((await graph.getState(config)).values.messages),
    steps: states.map(({ metadata, values, next }) => [
      ...[
        metadata?.source,
        metadata?.step,
        next,
        said((values as { messages?: BaseMessage[] }).messages ?? []),
      ],
    ]),
  };
};

describe.each(['plain', 'delta'] as const)('a graph with %s channels', (channels) => {
  test('is interrupted, resumed and forked as with the saver in memory, and a saver of another process knows the same', async () => {
    const own = saver();
    const [found, expected] = [
      await playedWith(own, channels),
      await playedWith(new MemorySaver(), channels),
    ];
    expect(found.question).toEqual([{ question: 'May I measure?' }]);
    expect(found.steps).toEqual(expected.steps);
    expect(found.second).toEqual([
      'ask How deep?: How deep?',
      'look1: I look there.',
      'tool4: 7 m',
      'answer2: The depth is 7 m.',
    ]);
    // The branch that was left is as it was.
    expect(said(found.first.again.values.messages)).toEqual(found.first.said);
    expect(found.first.said.at(-1)).toBe('answer1: The depth is 12 m.');
    expect(await all(saver())).toEqual(await all(own, 'depth'));
  });

  test('has its messages and values as nodes, so that two branches of it can be compared', async () => {
    await playedWith(saver(), channels);
    const { branches } = (await get('histories/langgraph-depth/branches')) as {
      branches: { name: string | null; branch: string; saved: { name: string }[] }[];
    };
    const other = branches.find(({ name }) => name === null)?.branch ?? '';
    const shown = async (branch: string): Promise<unknown[]> => {
      const { nodes } = (await get(`histories/${branch}/tree`)) as {
        nodes: {
          shape: string;
          role: string | null;
          kind: string;
          key: string | null;
          content: { text: string } | null;
        }[];
      };
      return nodes.flatMap(({ shape, role, kind, key, content }) =>
        shape === 'block' && (kind === 'channel' ? key === 'budget' : kind !== 'checkpoint')
          ? [[role ?? key, content?.text.replaceAll(/"id".*/g, '')]]
          : [],
      );
    };
    expect(await shown('langgraph-depth')).toEqual([
      ...[
        ['budget', '9'],
        ['user', 'How deep?'],
        ['assistant', 'I look.'],
        ['assistant', CALL],
      ],
      ...[
        ['tool', '12 m'],
        ['assistant', 'The depth is 12 m.'],
      ],
    ]);
    expect(await shown(other)).toEqual([
      ...[
        ['budget', '9'],
        ['user', 'How deep?'],
        ['assistant', 'I look there.'],
        ['assistant', CALL],
      ],
      ...[
        ['tool', '7 m'],
        ['assistant', 'The depth is 7 m.'],
      ],
    ]);
    // A position has the id of its checkpoint.
    const names = branches.flatMap(({ saved }) => saved.map(({ name }) => name));
    const ids = (await all(saver())).map(
      (tuple) => (JSON.parse(tuple) as { checkpoint: { id: string } }).checkpoint.id,
    );
    expect(new Set(names)).toEqual(new Set(ids));
  });
});

test('what is put is there when the gateway and the saver are others', async () => {
  const { graph } = await playedWith(saver(), 'plain');
  const before = await graph.getState(config);
  await at.stop();
  url = await at.serve();
  const again = depthGraph(saver(), 'plain', 'again-');
  expect((await again.getState(config)).values).toEqual(before.values);
  await again.invoke(ask('And now?'), config);
  expect((await again.getState(config)).tasks[0]?.interrupts).toHaveLength(1);
});

test('a saver without a gateway says which one does not answer', async () => {
  await at.stop();
  await expect(depthGraph(saver()).invoke(ask('How deep?'), config)).rejects.toMatchObject({
    code: 'E_IO',
    message: `the gateway at ${url} does not answer: start it with \`stemma up\`, or give its url to StemmaSaver`,
  });
});

const checkpoint = (id: string, values: Record<string, unknown>, version = 1): Checkpoint => ({
  ...{ v: 4, id, ts: '2026-11-29T00:00:00.000Z', channel_values: values, versions_seen: {} },
  channel_versions: Object.fromEntries(Object.keys(values).map((name) => [name, version])),
});
const meta = { source: 'loop', step: 1, parents: {} } as const;

test('savers that put at once to one thread lose nothing', async () => {
  const savers = [saver(), saver(), saver()];
  const root = await saver().put(config, checkpoint('c0', { n: 0 }), meta, { n: 1 });
  await Promise.all(
    savers.flatMap((own, which) =>
      Array.from({ length: 8 }, async (_, i) => {
        const id = `c${which}-${i}`;
        const put = await own.put(root, checkpoint(id, { n: id }, 2), meta, { n: 2 });
        await Promise.all([
          own.putWrites(put, [['n', 1]], 'task-a'),
          saver().putWrites(put, [['n', 2]], 'task-b'),
        ]);
      }),
    ),
  );
  const found = (await all(saver())).map((tuple) => JSON.parse(tuple) as Record<string, never>);
  expect(found).toHaveLength(25);
  for (const { checkpoint: one, pendingWrites } of found as unknown as {
    checkpoint: Checkpoint;
    pendingWrites: unknown[];
  }[]) {
    if (one.id === 'c0') continue;
    expect(one.channel_values).toEqual({ n: one.id });
    expect(pendingWrites).toEqual([
      ['task-a', 'n', 1],
      ['task-b', 'n', 2],
    ]);
  }
});

test.each([false, true])(
  'a deleted thread is neither listed nor returned, and begins anew (erasable: %s)',
  async (erasable) => {
    const [own, other] = [saver({ erasable }), saver({ erasable })];
    for (const which of [own, other]) {
      await which.put(config, checkpoint('c1', { n: 1 }), meta, { n: 1 });
      await which.put({ configurable: { thread_id: 'stays' } }, checkpoint('c1', { n: 1 }), meta, { n: 1 });
    }
    await own.deleteThread('depth');
    for (const which of [own, other]) {
      expect(await which.getTuple(config)).toBeUndefined();
      expect(await all(which, 'depth')).toEqual([]);
      expect(await all(which)).toHaveLength(1);
    }
    const { error } = await get('histories/langgraph-depth');
    expect((error as { code: string } | undefined)?.code).toBe(erasable ? 'E_HISTORY_ERASED' : undefined);
    await other.put(config, checkpoint('c2', { n: 2 }), meta, { n: 1 });
    expect((await own.getTuple(config))?.checkpoint.channel_values).toEqual({ n: 2 });
    expect(await all(own, 'depth')).toHaveLength(1);
  },
);

test('a history of another program is not taken for a thread', async () => {
  const options = { method: 'POST', headers: { 'content-type': 'application/json' } };
  const body = JSON.stringify({ id: 'start', recorder: 'another', name: 'langgraph-depth' });
  await fetch(`${url}/api/histories`, { ...options, body });
  const own = saver();
  expect(await own.getTuple(config)).toBeUndefined();
  await expect(own.put(config, checkpoint('c1', {}), meta, {})).rejects.toMatchObject({
    code: 'E_HISTORY_EXISTS',
  });
});

test('values of any size and threads of any name come back as they were', async () => {
  const odd = {
    configurable: { thread_id: 'user:7 / Zoë', checkpoint_ns: 'agent:1|tool:2', checkpoint_id: undefined },
  };
  const values = {
    text: `"${'long \u2028'.repeat(60_000)}`,
    bytes: new Uint8Array([0, 255, 7]),
    none: null,
    '': [],
  };
  await saver().put(odd, checkpoint('c:1 _', values), meta, { text: 1, bytes: 1, none: 1, '': 1 });
  const found = await saver().getTuple(odd);
  expect(found?.checkpoint.channel_values).toEqual(values);
  expect(found?.config.configurable).toEqual({ ...odd.configurable, checkpoint_id: 'c:1 _' });
});

test('a channel without a new version is the parent’s, and a checkpoint that is put twice is the last one', async () => {
  const own = saver();
  const first = await own.put(config, checkpoint('c1', { n: 1, list: [] }), meta, { n: 1, list: 1 });
  await own.put(first, checkpoint('c2', { n: 1, list: ['x'] }), meta, { list: 1 });
  await own.put(first, checkpoint('c2', { n: 5, list: ['y'] }, 2), meta, { n: 2, list: 2 });
  for (const which of [own, saver()]) {
    expect((await which.getTuple(config))?.checkpoint.channel_values).toEqual({ n: 5, list: ['y'] });
    expect(await all(which)).toHaveLength(2);
  }
});

/** What somebody may do with a thread: put a child of any checkpoint, write to one. */
const action = fc.oneof(
  fc.record({
    kind: fc.constant('put' as const),
    parent: fc.nat(20),
    set: fc.dictionary(fc.constantFrom('messages', 'a', 'b'), fc.nat(4), { maxKeys: 2 }),
    gone: fc.constantFrom('messages', 'a', 'none'),
  }),
  fc.record({ kind: fc.constant('write' as const), to: fc.nat(20), task: fc.nat(2), value: fc.nat(9) }),
);

test('any puts and writes give what the saver in memory gives, warm and cold', async () => {
  let threads = 0;
  await fc.assert(
    fc.asyncProperty(fc.array(action, { maxLength: 12 }), async (actions) => {
      const thread = `t${++threads}`;
      const [own, memory] = [saver(), new MemorySaver()];
      const done: { id: string; values: Record<string, unknown>; versions: Record<string, number> }[] = [];
      for (const [step, each] of actions.entries()) {
        const before = done[(each.kind === 'put' ? each.parent : each.to) % Math.max(done.length, 1)];
        const where = {
          configurable: { thread_id: thread, checkpoint_ns: '', ...(before && { checkpoint_id: before.id }) },
        };
        if (each.kind === 'write') {
          if (before === undefined) continue;
          for (const which of [own, memory])
            await which.putWrites(
              where,
              [
                ['a', each.value],
                ['__error__', `e${step}`],
              ],
              `task${each.task}`,
              `p${each.task}`,
            );
          continue;
        }
        const values = { ...before?.values };
        const changed: Record<string, number> = {};
        for (const [name, value] of Object.entries(each.set)) {
          const was = values[name];
          const list = Array.isArray(was) ? (was as AIMessage[]) : [];
          values[name] =
            name === 'messages'
              ? [...list.slice(value % 2), new AIMessage({ id: `m${value}`, content: `said ${step}` })]
              : { value };
          changed[name] = step + 1;
        }
        if (each.gone in values && !(each.gone in changed)) {
          delete values[each.gone];
          changed[each.gone] = step + 1;
        }
        const versions = { ...before?.versions, ...changed };
        const put = {
          ...checkpoint(`c${String(step).padStart(2, '0')}`, values),
          channel_versions: versions,
        };
        for (const which of [own, memory]) await which.put(where, put, { ...meta, step }, changed);
        done.push({ id: put.id, values, versions });
      }
      const expected = await all(memory, thread);
      const ordered = (tuples: string[]): unknown[] => tuples.map((tuple) => JSON.parse(tuple) as unknown);
      expect(ordered(await all(own, thread))).toEqual(ordered(expected));
      expect(ordered(await all(saver(), thread))).toEqual(ordered(expected));
    }),
    { numRuns: 15 },
  );
});
