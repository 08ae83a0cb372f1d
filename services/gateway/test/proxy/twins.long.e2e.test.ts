import type { Home } from '@stemma/home';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { openAgent, scriptedModel, type Agent, type Message } from './agent.ts';
import type { Script } from './scripted-upstream.ts';
import { openSteeredProxy, type SteeredProxy } from './steered-proxy.ts';

let proxy: SteeredProxy;
let upstream: SteeredProxy['upstream'];
let gateway: SteeredProxy['gateway'];
let home: Home;

/** As {@link scriptedModel}, with ids of calls of tools that are never the same, as providers give them. */
const modelWithIds: Script = (received, outgoing, incoming) => {
  const end = outgoing.end.bind(outgoing);
  outgoing.end = ((text: string) =>
    end(text.replaceAll(/"call_(\d+)"/g, `"call_$1-${upstream.received.length}"`))) as typeof outgoing.end;
  return scriptedModel(received, outgoing, incoming);
};

beforeEach(async () => {
  proxy = await openSteeredProxy(modelWithIds);
  ({ upstream, gateway, home } = proxy);
});
afterEach(() => proxy[Symbol.asyncDispose]());

const agentOf = (path: string): Agent =>
  openAgent(`${gateway.url}/proxy/${path}/openai`, 'Look up six things.');
const finish = async (agent: Agent): Promise<void> => {
  while (await agent.step());
  await gateway.drained(10_000);
};
const steps = async (agent: Agent, count: number): Promise<void> => {
  for (let i = 0; i < count; i++) await agent.step();
};
const act = async (address: string, notes: string, ...steps: Parameters<Home['submit']>[0]['steps']) => {
  const { history, branchId } = await home.find(address);
  const id = crypto.randomUUID();
  await home.submit({ id, history, branchId, by: { actor: 'ada' }, notes, steps });
  return id;
};
const idOf = async (address: string, content: string): Promise<string> => {
  const branch = await home.find(address);
  const { tree, payloads } = await home.read.view(await home.position(branch));
  const index = tree.payloads.findIndex((ref) => ref !== null && payloads(ref)['content'] === content);
  return tree.ids[index] as string;
};

test(
  'a run that was steered at call 5 differs from its twin by what was injected, and by nothing else: compare says so with the cause',
  { tags: ['calls§5.1'] },
  async () => {
    await finish(agentOf('history/plain'));
    const agent = agentOf('steer/history/steered');
    await steps(agent, 4);
    const id = await act('steered', 'to see what happens', { op: 'inject', text: 'Mind the gap.' });
    await finish(agent);

    const found = await home.queries.audit.compare(await home.find('plain'), '', 'steered');
    expect(found).toMatchObject({ relation: 'apart', mergeBase: null, divergedBy: null });
    expect(found.threads).toMatchObject({
      since: 5,
      differences: [
        {
          what: 'only-b',
          a: [],
          b: [{ excerpt: 'Mind the gap.' }],
          causes: [
            {
              side: 'b',
              how: 'inserted',
              frame: {
                author: { actor: 'ada' },
                command: id,
                intervention: { type: 'message_inject', notes: 'to see what happens' },
              },
            },
          ],
          after: null,
        },
      ],
    });
    expect(found.threads.same).toBe(2 + 12);
    expect(found.a.added).toEqual([]);
    expect(found.b.added.map(({ excerpt }) => excerpt)).toEqual(['Mind the gap.']);
    expect(found.cycles.map(({ same }) => same)).toEqual([true, true, true, true, false, false, false]);
    const back = await home.queries.audit.compare(await home.find('steered'), '@c4', 'plain@c4');
    expect(back.threads).toMatchObject({ since: null, differences: [] });
  },
);

test(
  'what was replaced or removed, and what the model answered to it, is told apart: an intervention, or a call later on',
  { tags: ['calls§5.2'] },
  async () => {
    await finish(agentOf('history/plain'));
    const agent = agentOf('steer/history/steered');
    await steps(agent, 4);
    await act('steered', 'bolder', {
      op: 'replace',
      id: await idOf('steered', 'You are careful.'),
      set: { content: 'You are bold.' },
    });
    await agent.step();
    await act('steered', 'enough', { op: 'inject', text: 'STOP' });
    await finish(agent);

    const { threads } = await home.queries.audit.compare(await home.find('plain'), '@c6', 'steered@c6');
    const told = threads.differences.map(({ what, a, b, causes, after }) => [
      what,
      a[0]?.excerpt ?? null,
      b[0]?.excerpt ?? null,
      causes.map(({ side, how, frame }) => `${side} ${how}: ${frame.intervention?.notes}`),
      after,
    ]);
    expect(threads.since).toBe(5);
    expect(told).toEqual([
      ['changed', 'You are careful.', 'You are bold.', ['b replaced: bolder'], null],
      ['only-b', null, 'STOP', ['b inserted: enough'], null],
    ]);
  },
);

test(
  'a branch that was forked and went on as the original did shows only what was changed in it',
  { tags: ['calls§5.10'] },
  async () => {
    const agent = agentOf('history/talk');
    await steps(agent, 3);
    await gateway.drained(10_000);
    const { branchId, seq } = await home.position(await home.find('talk'), '@c3');
    await act('talk', 'a twin', { op: 'fork', at: { branchId, seq }, name: 'twin' });
    const twin = agentOf('steer/history/talk:twin');
    twin.messages.splice(0, Infinity, ...structuredClone<Message[]>(agent.messages));
    await finish(agent);
    await steps(twin, 1);
    await act('talk:twin', 'rule 4', { op: 'inject', text: 'Mind the gap.' });
    await finish(twin);

    const found = await home.queries.audit.compare(await home.find('talk'), 'main', 'twin');
    expect(found.relation).toBe('diverged');
    expect(found.threads).toMatchObject({
      since: 5,
      differences: [
        { what: 'only-b', causes: [{ how: 'inserted', frame: { intervention: { notes: 'rule 4' } } }] },
      ],
    });
    const alike = new Set(found.alike.map(({ b }) => b));
    expect(found.b.added.filter(({ id }) => !alike.has(id)).map(({ excerpt }) => excerpt)).toEqual([
      'Mind the gap.',
    ]);
  },
);
