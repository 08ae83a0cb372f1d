import type { WideJson, WideJsonObject } from '@stemma/canonical';
import {
  DEFAULT_OPTIONS,
  openRerun,
  type Match,
  type RecordedAttempt,
  type RecordedConversation,
  type RecordedCycle,
  type Recording,
  type Rerun,
  type RerunOptions,
} from '../src/index.ts';

export const RECORDED_AT = BigInt(Date.UTC(2026, 10, 12, 10, 0, 0)) * 1_000_000n;
export const LIVE_AT = BigInt(Date.UTC(2026, 10, 28, 1, 30, 0)) * 1_000_000n;
const SECOND = 1_000_000_000n;

/** What an agent sees of the machine that it runs on. */
export type World = {
  /** ISO 8601, the time of the next call. */
  readonly time: () => string;
  readonly uuid: string;
};

/** Asks the model, in a conversation of the recording's. */
export type Ask = (request: WideJsonObject, conversation?: string, parent?: Parent) => WideJsonObject;
type Parent = { readonly call: string; readonly toolCall: string };

export type Agent = (ask: Ask, world: World) => void;

export const message = (role: string, content: string): WideJsonObject => ({ role, content });

export const attempt = (over: Partial<RecordedAttempt> = {}): RecordedAttempt => ({
  id: 'attempt',
  outcome: 'finished',
  status: 200,
  answer: null,
  answerId: null,
  isStreamed: false,
  bytes: 'kept',
  ...over,
});

export const cycle = (
  over: Partial<RecordedCycle> & Pick<RecordedCycle, 'label' | 'request'>,
): RecordedCycle => ({
  api: 'openai.chat',
  path: null,
  at: RECORDED_AT,
  attempts: [attempt()],
  tokens: 100,
  ...over,
});

export const conversation = (
  id: string,
  cycles: readonly RecordedCycle[],
  over: Partial<RecordedConversation> = {},
): RecordedConversation => ({ id, parent: null, from: null, cycles, ...over });

/** What an agent is answered, by the number of its call. */
export type Model = (number: number, request: WideJsonObject) => WideJsonObject;

/** Runs an agent and records it: calls of one name are one conversation. */
export const record = (agent: Agent, model: Model, uuid: string): Recording => {
  const conversations = new Map<string, { parent: Parent | null; cycles: RecordedCycle[] }>();
  let calls = 0;
  const at = (): bigint => RECORDED_AT + BigInt(calls) * SECOND;
  agent(
    (request, name = 'main', parent) => {
      const own = conversations.get(name) ?? { parent: parent ?? null, cycles: [] };
      conversations.set(name, own);
      const answer = model(calls, request);
      const label = `${name === 'main' ? '' : `${name}:`}@c${own.cycles.length + 1}`;
      own.cycles.push(cycle({ label, request, at: at(), attempts: [attempt({ id: `${label}.1`, answer })] }));
      calls++;
      return answer;
    },
    { time: () => isoOf(at()), uuid },
  );
  return {
    conversations: [...conversations].map(([id, own]) =>
      conversation(id, own.cycles, { parent: own.parent }),
    ),
  };
};

const isoOf = (at: bigint): string => new Date(Number(at / 1_000_000n)).toISOString();

/** Runs an agent against a rerun until it is stopped. */
export const runAgain = (
  agent: Agent,
  recording: Recording,
  options: Partial<RerunOptions> = {},
  uuid = '0f0e0d0c-1111-4222-8333-444455556666',
): { readonly rerun: Rerun; readonly matches: readonly Match[] } => {
  const rerun = openRerun(recording, { ...DEFAULT_OPTIONS, ...options });
  const matches: Match[] = [];
  const at = (): bigint => LIVE_AT + BigInt(matches.length) * SECOND;
  const stopped = new Error('The agent is stopped.');
  try {
    agent(
      (request) => {
        const found = rerun.match({ api: 'openai.chat', path: null, request: again(request) }, at());
        matches.push(found);
        if (found.kind === 'serve') return found.answer ?? {};
        if (found.kind === 'differs' && found.served !== null) return found.served.answer ?? {};
        throw stopped;
      },
      { time: () => isoOf(at()), uuid },
    );
  } catch (error) {
    if (error !== stopped) throw error;
  }
  return { rerun, matches };
};

/** The same value, as another object. */
const again = (value: WideJson): WideJson => structuredClone<WideJson>(value);

/** An answer that calls tools. */
export const calling = (
  ...calls: readonly (readonly [id: string, name: string, said: WideJson])[]
): WideJsonObject => ({
  role: 'assistant',
  content: null,
  tool_calls: calls.map(([id, name, said]) => ({
    id,
    type: 'function',
    function: { name, arguments: JSON.stringify(said) },
  })),
});

export const result = (id: string, content: string): WideJsonObject => ({
  role: 'tool',
  tool_call_id: id,
  content,
});
