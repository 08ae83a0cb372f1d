import { openHome, type Home } from '@stemma/home';
import { holdOf } from '@stemma/history';
import type { BranchRef } from '@stemma/history-store';
import { runStemma } from './run-stemma.ts';

const by = { recorder: 'proxy' };
/** The run in which a call waits for its tools. */
export const RUN = { run: 'r1' };
/** The run with a conversation of two calls. */
export const WALK = { run: 'r2' };
const observer = { actor: 'tester', notes: 'to see' };
const DAY = 86_400_000;

const addressOf = ({ history, branchId }: BranchRef): string => `${history}:${branchId}`;

type Said = { readonly role: string; readonly content: unknown; readonly tool_calls?: readonly unknown[] };
type Sent = {
  readonly id: string;
  readonly within?: { readonly run: string };
  readonly messages: readonly Said[];
};

const factsOf = (messages: readonly Said[]) => ({
  ...{ api: 'openai.chat' as const, model: 'm', parameters: {}, tools: null },
  request: Buffer.from(JSON.stringify({ model: 'm', messages })),
});

const record = (home: Home, { id, within = RUN, messages }: Sent) =>
  home.calls.recordRequest({ id, by, within, messages: messages as never, facts: factsOf(messages) });

/** Records one more call. Returns where it was put, and what was said of the rows. */
export const sendCall = async (
  directory: string,
  sent: Sent,
): Promise<{ readonly at: string; readonly said: string }> => {
  const said: string[] = [];
  const home = await openHome({ directory, say: (sentence) => said.push(sentence) });
  try {
    return { at: addressOf((await record(home, sent)).branch), said: said.join('\n') };
  } finally {
    await home.close();
  }
};

const BEGIN: Said = { role: 'user', content: 'Plan a walk through the old town' };
/** What the second call of the walk was shown. */
export const WALKED: readonly Said[] = [
  BEGIN,
  { role: 'assistant', content: 'From the gate to the square, then along the wall.' },
  { role: 'user', content: 'And with two small children?' },
];

/**
 * Adds calls of runs of a program: one that leads to the conversation of another agent, one that observers change, one that is held;
 * a conversation of two calls.
 *
 * @returns where the changed and held ones are, and the one that leads to others
 */
export const addSteeredCalls = async (
  directory: string,
): Promise<{ readonly steered: string; readonly led: string }> => {
  const home = await openHome({ directory });
  const send = (sent: Sent) => record(home, sent);
  try {
    await send({ id: 'walk-1', within: WALK, messages: [BEGIN] });
    await send({ id: 'walk-2', within: WALK, messages: WALKED });
    const trip = [{ role: 'user', content: 'A trip to Berlin, please, by the end of May' }];
    const parent = await send({ id: 'led', messages: trip });
    const task = 'Find hotels in Berlin near the station';
    const tool = { name: 'research', arguments: JSON.stringify({ task }) };
    const answer = {
      role: 'assistant',
      content: null,
      tool_calls: [{ id: 't1', type: 'function', function: tool }],
    };
    await home.calls.finishCall(parent.branch, {
      ...{ by, attemptId: 'led', status: 'answered', httpStatus: 200, finishReason: 'tool_calls' },
      ...{ model: 'm', firstByteMs: 1, durationMs: 2, error: null, answer, response: Buffer.from('{}') },
      usage: { input: 1, output: 2, cached: null, cacheWrite: null, reasoning: null },
    });
    const asked = [{ role: 'user', content: task }];
    const { branch } = await send({ id: 'agent-1', messages: asked });
    await home.steering.set(branch, true, observer);
    const injected = await runStemma([
      ...['inject', addressOf(branch), 'Not by the river.', '--role', 'system', '--home', directory],
    ]);
    if (injected.code !== 0) throw new Error(injected.stderr);
    const { request, ...facts } = factsOf(asked);
    const sent = await home.steering.call(
      {
        ...{ id: 'agent-2', by, within: { branch }, steer: true, api: 'openai.chat' },
        said: { ...facts, messages: asked },
        ...{ body: request, plain: request },
      },
      new AbortController().signal,
      (work) => work(),
    );
    if (sent.kind !== 'sent') throw new Error(`the call was ${JSON.stringify(sent)}`);
    await sent.recorded;
    await home.steering.addBreakpoint(branch, { timeout_ms: DAY, then: 'go-on', cycle: 9 }, observer);
    await home.submit({
      ...{ id: holdOf('agent-3'), history: branch.history, branchId: branch.branchId, by },
      steps: [
        {
          ...{ op: 'hold_call', attemptId: 'agent-3', api: 'openai.chat', model: 'm' },
          ...{ breakpoints: ['b1'], until: Date.now() + DAY, then: 'go-on' },
        },
      ],
    });
    return { steered: addressOf(branch), led: addressOf(parent.branch) };
  } finally {
    await home.close();
  }
};
