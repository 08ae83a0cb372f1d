import type { RunnableConfig } from '@langchain/core/runnables';
import {
  BaseCheckpointSaver,
  type ChannelVersions,
  type Checkpoint,
  type CheckpointListOptions,
  type CheckpointMetadata,
  type CheckpointPendingWrite,
  type CheckpointTuple,
  type DeltaChannelHistory,
  maxChannelVersion,
  type PendingWrite,
  type SerializerProtocol,
  TASKS,
  WRITES_IDX_MAP,
} from '@langchain/langgraph-checkpoint';
import type { ApiFetch } from '@stemma/api';
import { compareCodePoints, sameJson, type WideJson } from '@stemma/canonical';
import { fail } from '@stemma/errors';
import { openGateway } from './gateway.ts';
import { inOrder, type StoredWrite } from './pending-writes.ts';
import { valueOf } from './state.ts';
import { stateOfPut } from './state-of-put.ts';
import { dump, load } from './typed-text.ts';
import { keyOf, type CheckpointEntry, type ThreadIndex } from './thread-index.ts';
import { ThreadCache } from './thread-cache.ts';
import { type NewCheckpoint, ThreadWriter } from './thread-writer.ts';
import { oneAtATime } from './one-at-a-time.ts';

export type StemmaSaverOptions = {
  /** Address of the gateway; by default what `STEMMA_URL` says, else `http://127.0.0.1:7836`. */
  readonly url?: string;
  /** What the names of histories begin with: the thread `7` is the history `langgraph-7` by default. */
  readonly prefix?: string;
  /** Who writes; `langgraph` by default. */
  readonly recorder?: string;
  /** True: histories are sealed, and `deleteThread` erases them. By default a deleted thread stays in the record, and only there. */
  readonly erasable?: boolean;
  readonly fetch?: ApiFetch;
  readonly serde?: SerializerProtocol;
};

/**
 * Keeps the threads of graphs in Stemma: each is a history, each checkpoint a snapshot of it, what tasks wrote stands beside.
 *
 * ```ts
 * const graph = builder.compile({ checkpointer: new StemmaSaver({ url: 'http://127.0.0.1:7836' }) });
 * ```
 *
 * @throws (its methods) E_IO when no gateway answers, after 5 tries; E_HISTORY_EXISTS if another program has the thread's history
 */
export class StemmaSaver extends BaseCheckpointSaver {
  readonly #cache: ThreadCache;
  readonly #writer: ThreadWriter;
  /** What is known of a thread stays true while something is done with it, unless another process writes. */
  readonly #alone = oneAtATime();

  constructor({
    url,
    prefix = 'langgraph-',
    recorder = 'langgraph',
    erasable = false,
    ...options
  }: StemmaSaverOptions = {}) {
    super(options.serde);
    const address = url ?? process.env['STEMMA_URL'] ?? 'http://127.0.0.1:7836';
    const gateway = openGateway(address, options.fetch ?? fetch);
    this.#cache = new ThreadCache(gateway, prefix);
    this.#writer = new ThreadWriter({ gateway, cache: this.#cache, prefix, recorder, erasable });
  }

  override async getTuple(config: RunnableConfig): Promise<CheckpointTuple | undefined> {
    const { thread, namespace, id } = addressIn(config);
    if (thread === undefined) return undefined;
    const index = await this.#find(thread);
    const entry = index === null ? undefined : entryIn(index, namespace, id);
    return index === null || entry === undefined ? undefined : await this.#tuple(index, entry);
  }

  override async *list(
    config: RunnableConfig,
    { limit, before, filter }: CheckpointListOptions = {},
  ): AsyncGenerator<CheckpointTuple> {
    const { thread, id } = addressIn(config);
    const namespace = config.configurable?.['checkpoint_ns'] as string | undefined;
    const threads = thread === undefined ? await this.#cache.all() : [await this.#find(thread)];
    const end = before === undefined ? undefined : addressIn(before).id;
    const found = threads
      .flatMap((index) =>
        index === null ? [] : [...index.checkpoints.values()].map((entry) => ({ index, entry })),
      )
      .filter(({ entry }) => namespace === undefined || entry.namespace === namespace)
      .filter(({ entry }) => id === undefined || entry.id === id)
      .filter(({ entry }) => end === undefined || compareCodePoints(entry.id, end) < 0)
      .sort((a, b) => compareCodePoints(b.entry.id, a.entry.id));
    let left = limit ?? Infinity;
    for (const { index, entry } of found) {
      if (left <= 0) return;
      const tuple = await this.#tuple(index, entry);
      if (!matches(tuple.metadata, filter)) continue;
      left -= 1;
      yield tuple;
    }
  }

  override async put(
    config: RunnableConfig,
    checkpoint: Checkpoint,
    metadata: CheckpointMetadata,
    newVersions: ChannelVersions,
  ): Promise<RunnableConfig> {
    const { thread, namespace, id: parentId = null } = addressIn(config);
    if (thread === undefined) throw missing('thread_id');
    const { id } = checkpoint;
    const put: NewCheckpoint = {
      ...{ namespace, id, parent: parentId },
      stateFrom: (parent, writes) =>
        stateOfPut({ serde: this.serde, checkpoint, metadata, newVersions, parentId, parent, writes }),
    };
    await this.#alone(thread, () => this.#writer.put(thread, put));
    return configOf(thread, namespace, id);
  }

  override async putWrites(
    config: RunnableConfig,
    writes: PendingWrite[],
    taskId: string,
    taskPath = '',
  ): Promise<void> {
    const { thread, namespace, id } = addressIn(config);
    if (thread === undefined) throw missing('thread_id');
    if (id === undefined) throw missing('checkpoint_id');
    const stored = await Promise.all(
      writes.map(async ([channel, value], index): Promise<StoredWrite> => ({
        ...{ task: taskId, path: taskPath, channel },
        index: WRITES_IDX_MAP[channel] ?? index,
        value: await dump(this.serde, value),
      })),
    );
    if (stored.length > 0)
      await this.#alone(thread, () => this.#writer.putWrites(thread, { namespace, id }, stored));
  }

  override async deleteThread(threadId: string): Promise<void> {
    await this.#alone(threadId, () => this.#writer.remove(threadId));
  }

  override async getDeltaChannelHistory({
    config,
    channels,
  }: {
    config: RunnableConfig;
    channels: string[];
  }): Promise<Record<string, DeltaChannelHistory>> {
    const { thread, namespace, id } = addressIn(config);
    const index = thread === undefined ? null : await this.#find(thread);
    const found = new Map<string, { writes: CheckpointPendingWrite[][]; seed?: { value: unknown } }>();
    for (const channel of channels) found.set(channel, { writes: [] });
    const open = new Set(channels);
    const start = index === null ? undefined : entryIn(index, namespace, id);
    let at = index === null || start === undefined ? null : (await this.#cache.state(index, start)).parent;
    while (index !== null && at !== null && open.size > 0) {
      const entry = index.checkpoints.get(keyOf({ namespace, id: at }));
      if (entry === undefined) break;
      const writes = inOrder(await this.#cache.writes(index, entry)).filter(({ channel }) =>
        open.has(channel),
      );
      const state = await this.#cache.state(index, entry);
      for (const channel of [...open]) {
        const of = found.get(channel);
        const own = writes.filter((write) => write.channel === channel);
        of?.writes.push(await Promise.all(own.map((write) => this.#pendingWrite(write))));
        const stored = state.channels.get(channel);
        const value = stored === undefined ? null : valueOf(stored);
        if (value === null) continue;
        if (of !== undefined) of.seed = { value: await load(this.serde, value) };
        open.delete(channel);
      }
      at = state.parent;
    }
    return Object.fromEntries(
      [...found].map(([channel, { writes, seed }]) => [
        channel,
        { writes: writes.reverse().flat(), ...(seed !== undefined && { seed: seed.value }) },
      ]),
    );
  }

  #find(thread: string): Promise<ThreadIndex | null> {
    return this.#alone(thread, () => this.#cache.fresh(thread));
  }

  async #pendingWrite({ task, channel, value }: StoredWrite): Promise<CheckpointPendingWrite> {
    return [task, channel, await load(this.serde, value)];
  }

  async #tuple(index: ThreadIndex, entry: CheckpointEntry): Promise<CheckpointTuple> {
    const { thread } = index;
    const { namespace, id } = entry;
    const [state, writes] = await Promise.all([
      this.#cache.state(index, entry),
      this.#cache.writes(index, entry),
    ]);
    const checkpoint = (await load(this.serde, state.checkpoint)) as Checkpoint;
    const values: Record<string, unknown> = {};
    for (const [name, channel] of state.channels) {
      const value = valueOf(channel);
      if (value !== null) values[name] = await load(this.serde, value);
    }
    checkpoint.channel_values = values;
    if (checkpoint.v < 4 && state.parent !== null)
      await this.#takeSends(index, checkpoint, namespace, state.parent);
    return {
      config: configOf(thread, namespace, id),
      checkpoint,
      metadata: (await load(this.serde, state.metadata)) as CheckpointMetadata,
      ...(state.parent !== null && { parentConfig: configOf(thread, namespace, state.parent) }),
      pendingWrites: await Promise.all(inOrder(writes).map((write) => this.#pendingWrite(write))),
    };
  }

  /** Graphs before version 4 of checkpoints sent to tasks by writes to the parent: later ones read them from a channel. */
  async #takeSends(
    index: ThreadIndex,
    checkpoint: Checkpoint,
    namespace: string,
    parent: string,
  ): Promise<void> {
    const entry = index.checkpoints.get(keyOf({ namespace, id: parent }));
    const writes = entry === undefined ? [] : await this.#cache.writes(index, entry);
    const sends = inOrder(writes).filter(({ channel }) => channel === TASKS);
    checkpoint.channel_values[TASKS] = await Promise.all(sends.map(({ value }) => load(this.serde, value)));
    const versions = Object.values(checkpoint.channel_versions);
    checkpoint.channel_versions[TASKS] =
      versions.length > 0 ? maxChannelVersion(...versions) : this.getNextVersion(undefined);
  }
}

type Address = {
  readonly thread: string | undefined;
  readonly namespace: string;
  readonly id: string | undefined;
};

const addressIn = ({ configurable = {} }: RunnableConfig): Address => {
  const { thread_id, checkpoint_ns, checkpoint_id, thread_ts } = configurable as {
    readonly [key: string]: unknown;
  };
  const text = (value: unknown): string | undefined =>
    typeof value === 'string' && value !== '' ? value : typeof value === 'number' ? String(value) : undefined;
  return {
    thread: text(thread_id),
    namespace: text(checkpoint_ns) ?? '',
    id: text(checkpoint_id) ?? text(thread_ts),
  };
};

const configOf = (thread: string, namespace: string, id: string): RunnableConfig => ({
  configurable: { thread_id: thread, checkpoint_ns: namespace, checkpoint_id: id },
});

const missing = (field: string): Error =>
  fail('E_COMMAND_INVALID', `config.configurable has no ${field}: give it where the graph is called`, {
    field,
  });

/** The checkpoint with this id, or the newest of the namespace. */
const entryIn = (
  index: ThreadIndex,
  namespace: string,
  id: string | undefined,
): CheckpointEntry | undefined => {
  if (id !== undefined) return index.checkpoints.get(keyOf({ namespace, id }));
  let newest: CheckpointEntry | undefined;
  for (const entry of index.checkpoints.values())
    if (entry.namespace === namespace && (newest === undefined || compareCodePoints(entry.id, newest.id) > 0))
      newest = entry;
  return newest;
};

const matches = (
  metadata: CheckpointMetadata | undefined,
  filter: CheckpointListOptions['filter'],
): boolean =>
  Object.entries((filter ?? {}) as { readonly [key: string]: WideJson | undefined }).every(
    ([key, wanted]) => {
      const value = (metadata as { readonly [key: string]: WideJson | undefined } | undefined)?.[key];
      return wanted === undefined || (value !== undefined && sameJson(value, wanted));
    },
  );
