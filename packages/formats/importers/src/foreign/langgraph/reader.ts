import { fail } from '@stemma/errors';
import type { ForeignItem } from '../item.ts';
import type { ForeignReader } from '../reader.ts';
import { eachUnit } from '../whole-units.ts';
import { isLangGraphHead, readStored } from './stored.ts';
import { openStateReader, type StateReader } from './thread.ts';

/**
 * Checkpoints of LangGraph: a thread is a conversation in each of its namespaces. A checkpoint holds a whole state; what it has behind the
 * state of its parent is added, and what it has no more is removed. Each message of the model is a call.
 */
export const langgraph: ForeignReader = {
  name: 'langgraph',
  mapping: 'langgraph@1',
  summary: 'checkpoints of LangGraph: databases of SqliteSaver and PostgresSaver',
  versions:
    'langgraph-checkpoint-sqlite 1.x to 3.x, langgraph-checkpoint-postgres 2.x and 3.x, @langchain/langgraph-checkpoint-sqlite and -postgres 0.1 to 1.x (checkpoints v1 to v4; MessagePack and JSON; channels of deltas)',
  recognises: isLangGraphHead,
  async *read(units): AsyncIterable<ForeignItem> {
    const threads = openThreads();
    yield* eachUnit(units, function* ({ value, where }) {
      if (isLangGraphHead(value)) {
        yield* threads.begin();
        return;
      }
      const checkpoint = readStored(value);
      if (checkpoint === null)
        throw fail('E_INPUT_SHAPE', `${where} is no checkpoint: it has no thread_id or no checkpoint_id`);
      yield* threads.add(checkpoint);
    });
    yield* threads.end();
  },
};

/** The checkpoints of all threads, one thread and one namespace after the other. */
const openThreads = () => {
  const state = { thread: '', ns: '', seen: new Set<string>(), count: 0, messages: 0 };
  let open: StateReader | null = null;
  function* counted(items: Iterable<ForeignItem>): Iterable<ForeignItem> {
    for (const item of items) {
      if (item.kind === 'message' || item.kind === 'call') state.messages += 1;
      yield item;
    }
  }
  return {
    /** Another database begins: a thread of the same name is another one. */
    *begin(): Iterable<ForeignItem> {
      yield* open?.end() ?? [];
      open = null;
      state.seen = new Set();
    },
    *add(checkpoint: NonNullable<ReturnType<typeof readStored>>): Iterable<ForeignItem> {
      const { thread, ns } = checkpoint;
      if (open === null || thread !== state.thread || ns !== state.ns) {
        yield* open?.end() ?? [];
        if (thread !== state.thread) state.seen = new Set();
        [state.thread, state.ns] = [thread, ns];
        open = openStateReader(state.seen);
      }
      state.count += 1;
      yield* counted(open.add(checkpoint));
    },
    /** @throws E_INPUT_SHAPE where there is nothing to import */
    *end(): Iterable<ForeignItem> {
      yield* open?.end() ?? [];
      if (state.count === 0) throw fail('E_INPUT_SHAPE', 'the tables hold no checkpoint of LangGraph');
      if (state.messages === 0)
        throw fail(
          'E_INPUT_SHAPE',
          `none of the ${state.count} checkpoints of LangGraph has a channel of messages that can be read`,
        );
    },
  };
};
