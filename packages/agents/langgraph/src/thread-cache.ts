import type { AnswerOf, Endpoints, InputOf } from '@stemma/api';
import { parseWideJson } from '@stemma/canonical';
import { LRUCache } from 'lru-cache';
import { answerOrCode } from './answer-or-code.ts';
import type { SaverGateway } from './gateway.ts';
import { historyName } from './names.ts';
import { addWrites, writesNode, writesOfEvent, type StoredWrite } from './pending-writes.ts';
import { readState, type State } from './state.ts';
import { readIndex, WRITES, type CheckpointEntry, type ThreadIndex } from './thread-index.ts';

/** Characters of states that stay in memory. */
const MOST_CHARACTERS = 32 * 1024 * 1024;
/** Threads whose index stays in memory. */
const MOST_THREADS = 1_000;
const PAGE = 500;

/** What a gateway has of threads, and what is known of it in memory. */
export class ThreadCache {
  readonly #gateway: SaverGateway;
  readonly #prefix: string;
  readonly #known = new LRUCache<string, ThreadIndex>({ max: MOST_THREADS });
  readonly #states = new LRUCache<string, State>({
    maxSize: MOST_CHARACTERS,
    sizeCalculation: (state) => charactersOf(state),
  });

  constructor(gateway: SaverGateway, prefix: string) {
    this.#gateway = gateway;
    this.#prefix = prefix;
  }

  /** What was known last of a thread: another process may have written since. */
  last(thread: string): ThreadIndex | undefined {
    return this.#known.get(thread);
  }

  forget(thread: string): void {
    this.#known.delete(thread);
  }

  keep(index: ThreadIndex): void {
    this.#known.set(index.thread, index);
  }

  /** What is known of a thread now; null: there is none. */
  async fresh(thread: string): Promise<ThreadIndex | null> {
    const index = this.#known.get(thread);
    if (index !== undefined) {
      const { history } = index;
      const asked = this.#gateway.history({ history });
      const now = await answerOrCode(asked, 'E_HISTORY_NOT_FOUND', 'E_HISTORY_ERASED');
      if (typeof now === 'object' && now.frames === index.frames) return index;
      this.forget(thread);
    }
    const { index: found } = await this.look(thread);
    if (found !== null) this.keep(found);
    return found;
  }

  /** The first generation that was not deleted, and the number of the one that a new thread is. */
  async look(thread: string): Promise<{ readonly index: ThreadIndex | null; readonly next: number }> {
    for (let generation = 1; ; generation++) {
      const asked = this.#gateway.branches({ history: historyName(this.#prefix, thread, generation) });
      const found = await answerOrCode(asked, 'E_HISTORY_NOT_FOUND', 'E_HISTORY_ERASED');
      if (found === 'E_HISTORY_ERASED') continue;
      const index = found === 'E_HISTORY_NOT_FOUND' ? null : readIndex(found);
      if (index?.isDeleted !== true) return { index, next: generation };
    }
  }

  /** All threads that begin with the prefix. */
  async all(): Promise<readonly ThreadIndex[]> {
    const prefix = this.#prefix;
    const found: ThreadIndex[] = [];
    for (let skip = 0; ; skip += PAGE) {
      const asked = { limit: PAGE, skip, ...(prefix !== '' && { name: prefix }) };
      const { histories } = await this.#gateway.histories(asked);
      for (const { history, name, branches } of histories) {
        if (!name?.startsWith(prefix) || !branches.some((branch) => branch.name === WRITES)) continue;
        const answer = this.#gateway.branches({ history });
        const known = await answerOrCode(answer, 'E_HISTORY_NOT_FOUND', 'E_HISTORY_ERASED');
        const index = typeof known === 'string' ? null : readIndex(known);
        if (index?.isDeleted === false) found.push(index);
      }
      if (histories.length < PAGE) return found;
    }
  }

  async state({ history }: ThreadIndex, { name }: CheckpointEntry): Promise<State> {
    const key = `${history}\n${name}`;
    const found = this.#states.get(key);
    if (found !== undefined) return found;
    const exported = await this.#gateway.export({ history, at: `@name:${name}` });
    const state = readState(parseWideJson(exported, 'the export'));
    this.#states.set(key, state);
    return state;
  }

  keepState({ history }: ThreadIndex, { name }: CheckpointEntry, state: State): void {
    this.#states.set(`${history}\n${name}`, state);
  }

  /** What tasks wrote to a checkpoint, in no order. */
  async writes(
    { history, written }: ThreadIndex,
    { name }: CheckpointEntry,
  ): Promise<readonly StoredWrite[]> {
    const found = written.get(name);
    if (found !== undefined) return [...found.values()];
    const writes = new Map<string, StoredWrite>();
    let from: number | null = 0;
    while (from !== null) {
      const asked: InputOf<Endpoints['events']> = { history, node: writesNode(name), from, limit: 1_000 };
      const page: AnswerOf<Endpoints['events']> | 'E_NODE_NOT_FOUND' = await answerOrCode(
        this.#gateway.events(asked),
        'E_NODE_NOT_FOUND',
      );
      if (typeof page === 'string') break;
      for (const { event } of page.events) addWrites(writes, writesOfEvent(event));
      from = page.next;
    }
    written.set(name, writes);
    return [...writes.values()];
  }
}

const charactersOf = ({ checkpoint, metadata, channels }: State): number => {
  let sum = checkpoint.text.length + metadata.text.length + 1;
  for (const channel of channels.values())
    if (channel.kind === 'value') sum += channel.value?.text.length ?? 0;
    else for (const { text } of channel.messages) sum += text.length;
  return sum;
};
