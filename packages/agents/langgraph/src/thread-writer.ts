import type { StepRequest } from '@stemma/api';
import { fail, isStemmaError } from '@stemma/errors';
import { randomUUID } from 'node:crypto';
import { answerOrCode } from './answer-or-code.ts';
import type { SaverGateway } from './gateway.ts';
import { checkpointName, historyName, type CheckpointKey } from './names.ts';
import { addWrites, contentOfWrites, writesNode, type StoredWrite } from './pending-writes.ts';
import { planPut } from './plan-put.ts';
import type { State } from './state.ts';
import type { ThreadCache } from './thread-cache.ts';
import {
  addEntry,
  branchNote,
  DELETED,
  keyOf,
  WRITES,
  type CheckpointEntry,
  type ThreadIndex,
} from './thread-index.ts';

/** A checkpoint that is put. */
export type NewCheckpoint = CheckpointKey & {
  readonly parent: string | null;
  /** The state, made from that of the parent and what its tasks wrote; null: there is no such parent. */
  readonly stateFrom: (
    parent: State | null,
    writes: () => Promise<readonly StoredWrite[]>,
  ) => Promise<Omit<State, 'node'>>;
};

export type ThreadWriterOptions = {
  readonly gateway: SaverGateway;
  readonly cache: ThreadCache;
  readonly prefix: string;
  readonly recorder: string;
  readonly erasable: boolean;
};

/** How often a put is planned anew because another process was first. */
const MOST_PLANS = 20;
/** What a put meets that knows less than is recorded. */
const BEHIND = [
  'E_CONFLICT',
  'E_NAME_TAKEN',
  'E_HISTORY_ERASED',
  'E_HISTORY_NOT_FOUND',
  'E_NODE_NOT_FOUND',
] as const;

/** Writes to threads, one at a time of each. What is put is durable when the promise is kept. */
export class ThreadWriter {
  readonly #options: ThreadWriterOptions;
  readonly #gateway: SaverGateway;
  readonly #cache: ThreadCache;

  constructor(options: ThreadWriterOptions) {
    this.#options = options;
    this.#gateway = options.gateway;
    this.#cache = options.cache;
  }

  async put(thread: string, checkpoint: NewCheckpoint): Promise<void> {
    for (let plans = 1; ; plans++) {
      const index = await this.#open(thread);
      try {
        await this.#putOnce(index, checkpoint);
        return;
      } catch (error) {
        // Another process put a checkpoint, or deleted the thread.
        const isBehind = BEHIND.some((code) => isStemmaError(error, code));
        if (!isBehind || plans >= MOST_PLANS) throw error;
        this.#cache.forget(thread);
      }
    }
  }

  async putWrites(thread: string, key: CheckpointKey, writes: readonly StoredWrite[]): Promise<void> {
    const index = await this.#open(thread);
    const entry = index.checkpoints.get(keyOf(key));
    const name = entry?.name ?? checkpointName(key, 1);
    const node = writesNode(name);
    const content = contentOfWrites(writes);
    const insert: StepRequest = {
      op: 'insert',
      parent: '^sys',
      node: { id: node, nodeType: 'cb', kind: 'writes', content },
    };
    const replace: StepRequest = { op: 'replace', id: node, set: { content } };
    let seen = index.written.get(name);
    const isFirst = seen === undefined ? entry === undefined : seen.size === 0;
    const [first, second] = isFirst ? [insert, replace] : [replace, insert];
    let sent = await answerOrCode(this.#send(index.writes, [first]), 'E_NODE_EXISTS', 'E_NODE_NOT_FOUND');
    if (typeof sent === 'string') {
      // Another process wrote to the checkpoint.
      index.written.delete(name);
      seen = undefined;
      sent = await this.#send(index.writes, [second]);
    } else if (seen === undefined && entry === undefined) {
      seen = new Map();
      index.written.set(name, seen);
    }
    if (seen !== undefined) addWrites(seen, writes);
    this.#count(index, sent.position.seq);
  }

  async remove(thread: string): Promise<void> {
    const { erasable, recorder } = this.#options;
    for (;;) {
      const index = await this.#cache.fresh(thread);
      if (index === null) return;
      this.#cache.forget(thread);
      const steps: StepRequest[] = erasable ? [{ op: 'erase' }] : [{ op: 'name', name: DELETED }];
      const author = erasable ? { actor: recorder, notes: 'the thread was deleted' } : { recorder };
      const sent = this.#gateway.command({
        history: index.history,
        body: { id: randomUUID(), ...author, steps },
      });
      await answerOrCode(sent, 'E_NAME_TAKEN', 'E_HISTORY_ERASED');
    }
  }

  async #open(thread: string): Promise<ThreadIndex> {
    const known = this.#cache.last(thread) ?? (await this.#cache.fresh(thread));
    return known ?? (await this.#create(thread));
  }

  async #create(thread: string): Promise<ThreadIndex> {
    const { prefix, recorder, erasable } = this.#options;
    const { index, next } = await this.#cache.look(thread);
    if (index !== null) return index;
    const name = historyName(prefix, thread, next);
    const sealed = erasable ? { erasable: { subject: null } } : {};
    const started = this.#gateway.start({
      body: { id: `langgraph:start:${name}`, recorder, name, ...sealed },
    });
    if ((await answerOrCode(started, 'E_HISTORY_EXISTS')) === 'E_HISTORY_EXISTS')
      throw fail('E_HISTORY_EXISTS', `the history ${name} is there and no thread of LangGraph`, { name });
    const description = branchNote({ thread_id: thread });
    await this.#gateway.command({
      history: name,
      body: {
        ...{ id: 'langgraph:writes', recorder },
        steps: [{ op: 'fork', name: WRITES, at: { branchId: 0, seq: 0 }, description }],
      },
    });
    const made = await this.#cache.look(thread);
    if (made.index === null)
      throw fail('E_INTERNAL', `the history ${name} was started and is not there`, { name });
    this.#cache.keep(made.index);
    return made.index;
  }

  async #putOnce(index: ThreadIndex, { parent, stateFrom, ...key }: NewCheckpoint): Promise<void> {
    const { namespace } = key;
    const cache = this.#cache;
    const parentEntry = parent === null ? undefined : index.checkpoints.get(keyOf({ namespace, id: parent }));
    const before = parentEntry === undefined ? null : await cache.state(index, parentEntry);
    const after = await stateFrom(before, async () =>
      parentEntry === undefined ? [] : await cache.writes(index, parentEntry),
    );
    const times = (index.checkpoints.get(keyOf(key))?.times ?? 0) + 1;
    const name = checkpointName(key, times);
    const branchId = await this.#branchFor(index, parentEntry, namespace);
    const branch = index.branches.get(branchId);
    if (branch === undefined) throw fail('E_INTERNAL', 'the branch of a checkpoint is not known');
    const ordinal = Math.max(index.ordinal, nextOrdinal(before));
    const plan = (named: boolean) => planPut({ before, after, id: key.id, name, ordinal, branchId, named });
    let planned = plan(true);
    let sent = await answerOrCode(this.#send(branch.branch, planned.steps, branch.tip), 'E_NODE_EXISTS');
    if (sent === 'E_NODE_EXISTS') {
      planned = plan(false);
      sent = await this.#send(branch.branch, planned.steps, branch.tip);
    }
    const { position, events } = sent;
    const inserted = events.flatMap((event) => {
      const { type, node } = event as { type: string; node?: { id: string } };
      return type === 'NodeInserted' && node !== undefined ? [node.id] : [];
    });
    const entry = { ...key, name, times, branchId, seq: position.seq };
    branch.tip = position.seq;
    const state = planned.stateWith(inserted);
    index.ordinal = nextOrdinal(state);
    cache.keepState(index, entry, state);
    // What its tasks wrote may have come before it.
    if (!index.written.has(name)) index.written.set(name, new Map());
    addEntry(index, entry);
    this.#count(index, position.seq);
  }

  /** The branch that a child of a checkpoint goes on: its parent's while nothing follows there, else a new one. */
  async #branchFor(
    index: ThreadIndex,
    parent: CheckpointEntry | undefined,
    namespace: string,
  ): Promise<number> {
    if (parent !== undefined && index.branches.get(parent.branchId)?.tip === parent.seq)
      return parent.branchId;
    if (parent === undefined && namespace === '' && index.branches.get(0)?.tip === 0) return 0;
    const at = { branchId: parent?.branchId ?? 0, seq: parent?.seq ?? 0 };
    const description = branchNote({ checkpoint_ns: namespace });
    const { position } = await this.#send(index.history, [{ op: 'fork', at, description }]);
    const { branchId, branch, seq } = position;
    index.branches.set(branchId, { namespace, branch, tip: seq });
    this.#count(index, seq);
    return branchId;
  }

  #send(branch: string, steps: readonly StepRequest[], expected?: number) {
    const { recorder } = this.#options;
    return this.#gateway.command({
      history: branch,
      body: { id: randomUUID(), recorder, steps: [...steps], ...(expected !== undefined && { expected }) },
    });
  }

  /** Counts a frame of this saver; another process that wrote in between makes all that is known old. */
  #count(index: ThreadIndex, seq: number): void {
    if (seq === index.frames) index.frames += 1;
    else this.#cache.forget(index.thread);
  }
}

const nextOrdinal = (state: State | null): number => {
  let next = 0;
  for (const channel of state?.channels.values() ?? [])
    if (channel.kind === 'messages')
      for (const { ordinal } of channel.messages) if (ordinal >= next) next = ordinal + 1;
  return next;
};
