import type { RecordedRun, RunStep } from '@stemma/analysis';
import { toolCallsOf } from '@stemma/agent-loop';
import { canonicalJson, isJsonObject, type WideJson } from '@stemma/canonical';
import { textOfContent } from '@stemma/model-apis';
import type { ComparedBranch, OwnEvent } from './branch-events.ts';

/** What the calls of branches of an agent chose and said since the branches parted. */
export const agentRuns = (
  branches: readonly ComparedBranch[],
  events: readonly (readonly OwnEvent[])[],
): readonly RecordedRun[] => branches.map(({ name }, i) => ({ name, steps: stepsOf(events[i] ?? []) }));

type Answer = {
  readonly tools: { name: string; arguments: string }[];
  readonly texts: string[];
  stop: string | null;
};

const stepsOf = (events: readonly OwnEvent[]): readonly RunStep[] => {
  const answers = new Map<number, Answer>();
  const intervened = new Set(
    events.flatMap(({ event, seq }) => (event.type === 'InterventionRecorded' ? [seq] : [])),
  );
  let stop: string | null = null;
  /** The answer of the newest call, until a node holds it: nobody asks again behind the last one. */
  let last: Answer | null = null;
  for (const { event, seq, isShared } of events) {
    if (isShared) continue;
    if (event.type === 'CallFinished') {
      stop = event.finishReason;
      if (event.status === 'answered')
        last = answerIn((event.payload['data_answer'] ?? null) as WideJson, stop);
    }
    // What an observer put there is not what the agent decided.
    if (event.type !== 'NodeInserted' || intervened.has(seq) || event.node.role !== 'assistant') continue;
    const { node } = event;
    const answer = answers.get(node.cycle) ?? { tools: [], texts: [], stop };
    answers.set(node.cycle, answer);
    stop = null;
    last = null;
    const content = (node['content'] ?? null) as WideJson;
    if (node.kind === 'call') {
      for (const call of toolCallsOf({ tool_calls: [content] }))
        answer.tools.push({ name: call.name, arguments: argumentsOf(call.arguments) });
    } else if (node.kind === 'text') {
      const text = textOfContent(content);
      if (text.trim() !== '') answer.texts.push(text);
    }
  }
  let before = 'begin';
  const inOrder = [...answers].sort(([a], [b]) => a - b).map(([, answer]) => answer);
  return [...inOrder, ...(last === null ? [] : [last])].map(({ tools, texts, stop: ended }): RunStep => {
    const actions = tools.length === 0 ? ['answer'] : tools.map(({ name }) => name);
    const order = actions.map((action, i) => `${i === 0 ? before : (actions[i - 1] ?? '')} → ${action}`);
    before = actions.at(-1) ?? before;
    return {
      choices: {
        action: actions,
        ...(tools.length === 0
          ? {}
          : { 'tool with arguments': tools.map((tool) => `${tool.name} ${tool.arguments}`) }),
        'order of actions': order,
        ...(ended === null ? {} : { 'stop reason': [ended] }),
      },
      texts: texts.map((text) => ({ about: actions.join(' '), text })),
    };
  });
};

/** What the message of an answer chose and said; null: it is no message, or an empty one. */
const answerIn = (message: WideJson, stop: string | null): Answer | null => {
  if (!isJsonObject(message)) return null;
  const tools = toolCallsOf(message).map((call) => ({
    name: call.name,
    arguments: argumentsOf(call.arguments),
  }));
  const text = textOfContent(message['content'] ?? null);
  if (tools.length === 0 && text.trim() === '') return null;
  return { tools, texts: text.trim() === '' ? [] : [text], stop };
};

/** Arguments that are the same JSON are the same arguments. */
const argumentsOf = (given: unknown): string => {
  if (typeof given !== 'string') return canonicalJson((given ?? null) as WideJson);
  try {
    return canonicalJson(JSON.parse(given) as WideJson);
  } catch {
    return given;
  }
};
