import { loadPeer } from './install.ts';

type Config = { readonly configurable: { readonly thread_id: string; readonly checkpoint_id?: string } };
type State = { readonly messages: readonly unknown[] };
type Compiled = {
  invoke(input: State, config: Config): Promise<State>;
  getState(config: Config): Promise<{ readonly values: State }>;
};
type Builder = {
  addNode(name: string, work: (state: State) => Partial<State>): Builder;
  addEdge(from: string, to: string): Builder;
  compile(options: { checkpointer: Saver }): Compiled;
};
type Database = { close(): void };
type Work = (...values: readonly unknown[]) => Promise<unknown>;
type Put = (...values: readonly unknown[]) => Promise<Config>;
type Saver = { put: Put; putWrites: Work };
type SqliteSaver = Saver & { readonly db: Database; readonly serde: unknown };

type Checkpointer = { readonly SqliteSaver: { fromConnString(path: string): SqliteSaver } };

type LangGraph = {
  readonly StateGraph: new (annotation: unknown) => Builder;
  readonly Annotation: { Root(channels: Readonly<Record<string, unknown>>): unknown };
  readonly MessagesAnnotation: unknown;
  readonly DeltaChannel: new (reducer: unknown, options: { snapshotFrequency: number }) => unknown;
  readonly messagesDeltaReducer: unknown;
};
type Messages = Readonly<
  Record<
    'HumanMessage' | 'AIMessage',
    new (fields: { readonly id: string; readonly content: string }) => unknown
  >
>;

/** How LangGraph keeps the messages: a copy at each checkpoint, or deltas with a copy at every 50th update. */
export type Channels = 'plain' | 'delta';

export type Conversation = {
  /** One turn: what the user says goes in, the model's answer is the node's; resolves when its checkpoints are stored. */
  turn(question: string, answer: string): Promise<void>;
  /** Milliseconds spent in the checkpointer since it was asked last. */
  saving(): number;
  /** The checkpoint at the end of the newest turn. */
  newest(): string;
  /** The state at a checkpoint, read by it. */
  read(checkpoint: string): Promise<readonly unknown[]>;
  close(): void;
};

/** The SQLite checkpointer, at its default durability. */
export const openSqliteSaver = (fileName: string): SqliteSaver => {
  const { SqliteSaver } = loadPeer('@langchain/langgraph-checkpoint-sqlite') as Checkpointer;
  return SqliteSaver.fromConnString(fileName);
};

/** A thread of messages of one graph with one node, on the SQLite checkpointer. */
export const openLangGraph = (fileName: string, channels: Channels): Conversation => {
  const saver = openSqliteSaver(fileName);
  return openConversation(saver, channels, () => saver.db.close());
};

/** A thread of messages of one graph with one node. @param saver of any kind: its `put` and `putWrites` are timed */
export const openConversation = (saver: Saver, channels: Channels, close: () => void): Conversation => {
  const graphs = loadPeer('@langchain/langgraph') as LangGraph;
  const { HumanMessage, AIMessage } = loadPeer('@langchain/core/messages') as Messages;
  let saving = 0;
  let newest = '';
  const timed = async <T>(work: () => Promise<T>): Promise<T> => {
    const started = performance.now();
    try {
      return await work();
    } finally {
      saving += performance.now() - started;
    }
  };
  const [put, putWrites] = [saver.put.bind(saver), saver.putWrites.bind(saver)];
  saver.put = (...values) =>
    timed(async () => {
      const config = await put(...values);
      newest = config.configurable.checkpoint_id ?? newest;
      return config;
    });
  saver.putWrites = (...values) => timed(() => putWrites(...values));
  const state =
    channels === 'plain'
      ? graphs.MessagesAnnotation
      : graphs.Annotation.Root({
          messages: new graphs.DeltaChannel(graphs.messagesDeltaReducer, { snapshotFrequency: 50 }),
        });
  let count = 0;
  let answer = '';
  const graph = new graphs.StateGraph(state)
    .addNode('model', () => ({ messages: [new AIMessage({ id: `a${count}`, content: answer })] }))
    .addEdge('__start__', 'model')
    .addEdge('model', '__end__')
    .compile({ checkpointer: saver });
  const config: Config = { configurable: { thread_id: 'bench' } };
  return {
    turn: async (question, reply) => {
      count += 1;
      answer = reply;
      await graph.invoke({ messages: [new HumanMessage({ id: `q${count}`, content: question })] }, config);
    },
    saving: () => {
      const since = saving;
      saving = 0;
      return since;
    },
    newest: () => newest,
    read: async (checkpoint) => {
      const at = { configurable: { ...config.configurable, checkpoint_id: checkpoint } };
      return (await graph.getState(at)).values.messages;
    },
    close,
  };
};
