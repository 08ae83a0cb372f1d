import { AIMessage, HumanMessage, ToolMessage } from '@langchain/core/messages';
import {
  Annotation,
  type BaseCheckpointSaver,
  Command,
  DeltaChannel,
  interrupt,
  MessagesAnnotation,
  messagesDeltaReducer,
  StateGraph,
} from '@langchain/langgraph';

/** How a graph keeps its messages: whole at each checkpoint, or as deltas with a copy at every 3rd update. */
export type Channels = 'plain' | 'delta';

/** A graph that measures a depth when somebody allows it: a model, a tool that interrupts, and the model again. */
export const depthGraph = (checkpointer: BaseCheckpointSaver, channels: Channels = 'plain', prefix = '') => {
  const messages =
    channels === 'plain'
      ? MessagesAnnotation.spec.messages
      : new DeltaChannel(messagesDeltaReducer, { snapshotFrequency: 3 });
  const State = Annotation.Root({
    messages,
    budget: Annotation({ reducer: (_: number, next: number) => next, default: () => 10 }),
  });
  const ids = new Map<string, number>();
  const next = (of: string): string => {
    ids.set(of, (ids.get(of) ?? 0) + 1);
    return `${prefix}${of}${ids.get(of) ?? 0}`;
  };
  return new StateGraph(State)
    .addNode('model', ({ messages }) => {
      const last = messages.at(-1);
      return {
        messages: [
          last?.type === 'tool'
            ? new AIMessage({ id: next('answer'), content: `The depth is ${last.text}.` })
            : new AIMessage({
                ...{ id: next('look'), content: 'I look.' },
                tool_calls: [{ name: 'depth', args: { at: 1 }, id: 'call' }],
              }),
        ],
      };
    })
    .addNode('tools', ({ budget }) => ({
      messages: [
        new ToolMessage({
          ...{ id: next('tool'), tool_call_id: 'call' },
          content: interrupt<unknown, string>({ question: 'May I measure?' }),
        }),
      ],
      budget: budget - 1,
    }))
    .addEdge('__start__', 'model')
    .addConditionalEdges('model', ({ messages }) => {
      const last = messages.at(-1);
      return last instanceof AIMessage && (last.tool_calls?.length ?? 0) > 0 ? 'tools' : '__end__';
    })
    .addEdge('tools', 'model')
    .compile({ checkpointer });
};

export const ask = (text: string) => ({ messages: [new HumanMessage({ id: `ask ${text}`, content: text })] });
export const allow = (depth: string) =>
  new Command<string, Record<string, unknown>, never>({ resume: depth });
