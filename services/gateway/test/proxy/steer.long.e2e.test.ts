import { threadIndexes } from '@stemma/context-tree';
import { openHome, type Home } from '@stemma/home';
import { sized } from '@stemma/test-kit';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { serveHome, upstreamsOf } from '../../src/index.ts';
import { openAgent, scriptedModel, type Message } from './agent.ts';
import { startUpstream, type Script, type Upstream } from './scripted-upstream.ts';

let directory: string;
let upstream: Upstream | undefined;
let gateway: Awaited<ReturnType<typeof serveHome>> | undefined;
let home: Home;
const warnings: string[] = [];
const act = { actor: 'ada', notes: 'to see what happens' };

const open = async (script: Script = scriptedModel): Promise<string> => {
  upstream = await startUpstream(script);
  const STEMMA_UPSTREAM_OPENAI = `${upstream.url}/v1`;
  gateway = await serveHome({
    home: { directory, create: true },
    port: 0,
    upstreams: upstreamsOf({ STEMMA_UPSTREAM_OPENAI, STEMMA_UPSTREAM_ANTHROPIC: upstream.url }),
    warn: (sentence) => warnings.push(sentence),
  });
  // Another process in all but name: only the log is between them.
  home = await openHome({ directory });
  return `${gateway.url}/proxy`;
};
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'stemma-steer-'));
  warnings.length = 0;
});
afterEach(async () => {
  await home.close();
  await gateway?.close();
  await upstream?.close();
  gateway = undefined;
  rmSync(directory, { recursive: true, force: true });
});

const sent = (): Message[][] =>
  (upstream?.received ?? []).map(
    ({ body }) => (JSON.parse(body.toString()) as { messages: Message[] }).messages,
  );
const submit = async (history: string, ...steps: Parameters<Home['submit']>[0]['steps']) => {
  const branch = await home.find(history);
  const { history: id, branchId } = branch;
  return home.submit({
    id: crypto.randomUUID(),
    history: id,
    branchId,
    by: { actor: act.actor },
    notes: act.notes,
    steps,
  });
};

/** The ids of the blocks of a thread, in order. */
const threadIds = async (history = 'talk'): Promise<string[]> => {
  const { tree, thread } = await home.read.view(await home.position(await home.find(history)));
  return threadIndexes(tree, thread).map((index) => tree.ids[index] as string);
};
const edit = async (id: string, content: string): Promise<unknown> => {
  const branch = await home.find('talk');
  const steps = await home.steering.editSteps(branch, new Map([[id, content]]));
  return submit('talk', ...steps);
};

describe('a steered run', () => {
  test(
    'shows the model what an observer injects, from the next call on, and the agent knows nothing of it',
    { tags: ['calls§5.1'] },
    async () => {
      const url = await open();
      const agent = openAgent(`${url}/steer/history/talk/openai`, 'Look up six things.');
      await agent.step();
      await agent.step();
      expect(sent()).toHaveLength(2);
      await submit('talk', { op: 'inject', text: 'Mind the \u2028"gap"\u0000.'.replace('\u0000', '') });
      await agent.step();
      await agent.step();
      const injected = { role: 'user', content: 'Mind the \u2028"gap".' };
      const calls = sent();
      expect(calls[1]).toEqual(agent.messages.slice(0, 4));
      expect(calls[2]).toEqual([...agent.messages.slice(0, 6), injected]);
      expect(calls[3]).toEqual([...agent.messages.slice(0, 6), injected, ...agent.messages.slice(6, 8)]);
      await gateway?.drained(10_000);
      const branch = await home.find('talk');
      const { attempts } = await home.calls.list(branch);
      expect(attempts.map(({ label, match, status }) => `${label} ${match} ${status}`)).toEqual([
        '@c1 started answered',
        '@c2 appended answered',
        '@c3 appended answered',
        '@c4 appended answered',
      ]);
      const last = attempts[3]?.attemptId ?? '';
      const went = Buffer.from(await home.calls.body(branch.history, last, 'request'));
      expect(went.equals(upstream?.received[3]?.body as Buffer)).toBe(true);
      const [intervention] = (await home.queries.audit.interventions(branch)).interventions.filter(
        (each) => each.intervention_type === 'message_inject',
      );
      const impact = await home.queries.audit.impact(branch.history, intervention?.id ?? '');
      expect(impact.calls.map(({ cycle, direct }) => [cycle, direct])).toEqual([
        [3, 1],
        [4, 1],
      ]);
      expect(warnings).toEqual([]);
    },
  );

  test.for(['run/r', 'steer/run/r'])(
    'calls whose headers name two sessions are two conversations, of which no name is kept: %s',
    { tags: ['calls§3.14'] },
    async (place) => {
      const url = await open();
      const ask = async (session: string, messages: readonly object[]): Promise<void> => {
        const response = await fetch(`${url}/${place}/openai/chat/completions`, {
          method: 'POST',
          headers: { 'content-type': 'application/json', 'X-Session-Id': session },
          body: JSON.stringify({ model: 'm-1', messages }),
        });
        await response.text();
        await gateway?.drained(10_000);
      };
      const list: object[] = [{ role: 'user', content: 'STOP it.' }];
      for (let turn = 0; turn < 3; turn++) {
        for (const session of ['session-of-ann', 'session-of-bob']) await ask(session, list);
        list.push({ role: 'assistant', content: 'I stop.' }, { role: 'user', content: `STOP ${turn}.` });
      }
      const histories = (await home.read.histories()).map(({ history }) => history);
      expect(histories).toHaveLength(2);
      for (const history of histories) {
        const { attempts } = await home.calls.list(await home.find(history));
        expect(attempts.map(({ match }) => match)).toEqual(['started', 'appended', 'appended']);
        const places = (await home.read.events(history)).flatMap(({ event }) =>
          event.type === 'CallStarted' ? [event.payload['data_place']] : [],
        );
        expect(places).toEqual(Array(3).fill({ session: expect.stringMatching(/^[0-9a-f]{32}$/) as string }));
      }
    },
  );

  test.for(['history/talk', 'run/r'])(
    'begins with the first call after it was said that it does, in %s',
    { tags: ['calls§5.9'] },
    async (place) => {
      const url = await open();
      for (let round = 0; round < sized(3, 20); round++) {
        const agent = openAgent(
          `${url}/${place.replace('talk', `talk-${round}`)}/openai`,
          `Look up six things, ${round}.`,
        );
        await agent.step();
        await gateway?.drained(10_000);
        const { history } = (await home.read.histories())[0] as { history: string };
        await home.steering.set(await home.find(history), true, act);
        await submit(history, { op: 'inject', text: `Mind the gap, ${round}.` });
        await agent.step();
        expect(sent().at(-1)?.at(-1)).toEqual({ role: 'user', content: `Mind the gap, ${round}.` });
      }
    },
  );

  test(
    'removes and replaces what the agent sends, each message that nobody changed byte for byte',
    { tags: ['calls§5.2'] },
    async () => {
      const url = await open();
      const agent = openAgent(`${url}/steer/history/talk/openai`, 'Look up six things.');
      await agent.step();
      await agent.step();
      const ids = await threadIds();
      // The task, which is sealed: another text stands in its place.
      await edit(ids[1] as string, 'Look up five things.');
      await submit('talk', { op: 'replace', id: ids[0] as string, set: { content: 'You are bold.' } });
      await agent.step();
      const [, , third] = sent();
      expect(third).toEqual([
        { role: 'system', content: 'You are bold.' },
        { role: 'user', content: 'Look up five things.' },
        ...agent.messages.slice(2, 6),
      ]);
      const pair = (await threadIds()).slice(2, 4);
      await expect(submit('talk', { op: 'remove', id: pair[1] as string })).rejects.toMatchObject({
        code: 'E_TOOL_PAIR',
      });
      await submit('talk', ...pair.map((id) => ({ op: 'remove', id }) as const));
      await agent.step();
      await agent.step();
      expect(sent()[4]).toEqual([
        { role: 'system', content: 'You are bold.' },
        { role: 'user', content: 'Look up five things.' },
        ...agent.messages.slice(4, 10),
      ]);
      const branch = await home.find('talk');
      const last = (await home.calls.list(branch)).attempts.at(-1)?.attemptId ?? '';
      const call = await home.calls.find(branch.history, last);
      expect(call.steered?.changes.map(({ what }) => what)).toEqual([
        'replaced',
        'inserted',
        'removed',
        'removed',
        'removed',
      ]);
      const came = Buffer.from(await home.calls.body(branch.history, last, 'came'));
      expect(JSON.parse(came.toString())).toEqual({ model: 'm-1', messages: agent.messages.slice(0, 10) });
      const unchanged = came.toString().slice(came.toString().indexOf('"call_1"'));
      expect(upstream?.received[4]?.body.toString().endsWith(unchanged)).toBe(true);
    },
  );

  test(
    'gives way to an agent that changes the same message itself, and says so',
    { tags: ['calls§5.3'] },
    async () => {
      const url = await open();
      const agent = openAgent(`${url}/steer/history/talk/openai`, 'Look up six things.');
      await agent.step();
      const [system] = await threadIds();
      await submit('talk', { op: 'replace', id: system as string, set: { content: 'You are bold.' } });
      await agent.step();
      agent.messages[0] = { role: 'system', content: 'You are quick.' };
      await agent.step();
      expect(sent().map(([first]) => first?.['content'])).toEqual([
        'You are careful.',
        'You are bold.',
        'You are quick.',
      ]);
      const branch = await home.find('talk');
      const last = (await home.calls.list(branch)).attempts.at(-1)?.attemptId ?? '';
      expect((await home.calls.find(branch.history, last)).steered).toMatchObject({
        changes: [{ what: 'lost', node: system }],
        unsteered: null,
      });
    },
  );
});
