import type { CallAnswer, CommandAnswer, Diff, Fetch } from '@stemma/api';
import { fail, isStemmaError } from '@stemma/errors';
import { openServer, type Backend, type Snapshot } from './backend.ts';
import { sendAgain } from './send-again.ts';
import { newBatch, type Batch, type NodeGiven } from './steps.ts';

export type RecorderOptions = {
  /** Where to record: the address of a server, or the directory of a home of this process. One of the two. */
  readonly url?: string;
  readonly home?: string;
  /** By name or id; a name that is not there yet is started, unless `create` is false. */
  readonly history: string;
  readonly create?: boolean;
  /** Who writes: an agent its own record, or somebody who intervenes. One of the two. */
  readonly recorder?: string;
  readonly actor?: string;
  /** Instead of the global `fetch`. */
  readonly fetch?: Fetch;
};

export type Sending = {
  /** The id of the command; made by the recorder unless said. Sent again, it has one effect. */
  readonly id?: string;
  /** Refuse with E_CONFLICT unless the newest frame of the lineage is this one. */
  readonly expected?: number;
  /** Why: for an actor. */
  readonly notes?: string;
};

/** What a command came to. */
export type Recorded = {
  readonly seq: number;
  /** `@c4` at a snapshot, `@s57` elsewhere. */
  readonly label: string;
  /** True when it had been recorded before and nothing was written now. */
  readonly repeated: boolean;
  /** Of the nodes that came, in order. */
  readonly ids: readonly string[];
};

/** A recorded call, and how many messages stayed, were rewritten, went and came. */
export type RecordedCall = Recorded & Pick<CallAnswer, 'kept' | 'replaced' | 'removed' | 'inserted'>;

/** One history, to write to and to ask. Commands are sent one after the other, in the order in which they were given. */
export type Recorder = {
  readonly history: string;
  insert(parent: string, node: NodeGiven, sending?: Sending): Promise<Recorded>;
  replace(id: string, set: NodeGiven, sending?: Sending): Promise<Recorded>;
  move(id: string, parent: string, sending?: Sending): Promise<Recorded>;
  remove(id: string, sending?: Sending): Promise<Recorded>;
  commit(sending?: Sending): Promise<Recorded>;
  name(name: string, sending?: Sending): Promise<Recorded>;
  annotate(note: string, sending?: Sending): Promise<Recorded>;
  /** Steps as one command: all or none. */
  batch(fill: (batch: Batch) => unknown, sending?: Sending): Promise<Recorded>;
  /** The whole message list that is about to be sent: what is new comes in, what it leaves out goes, then a commit. */
  recordCall(messages: readonly object[], sending?: Sending): Promise<RecordedCall>;
  select(
    selector: string,
    window?: { readonly limit?: number; readonly skip?: number },
  ): Promise<readonly string[]>;
  diff(a: string, b: string): Promise<Diff>;
  /** The export of the tree, byte for byte; without a reference of the working state. */
  export(at?: string): Promise<string>;
  /** The provider thread, byte for byte. */
  thread(at?: string): Promise<string>;
  /** The message list as the chat completions API takes it. */
  messages(at?: string): Promise<string>;
  snapshots(): Promise<readonly Snapshot[]>;
  close(): Promise<void>;
};

/**
 * Opens a history to record to, on a server or in a home. On the `url` path nothing is loaded that a page could not load.
 *
 * @throws E_USAGE for options that contradict each other, E_HISTORY_NOT_FOUND, E_NAME_INVALID, E_IO
 */
export const openRecorder = async (options: RecorderOptions): Promise<Recorder> => {
  const { history: name, create = true, recorder, actor } = options;
  if ((recorder === undefined) === (actor === undefined))
    throw fail('E_USAGE', 'a recorder writes as a recorder or as an actor: name one of the two');
  const who = recorder === undefined ? { actor: actor ?? '' } : { recorder };
  const backend = await openBackend(options);
  try {
    return recorderOf(backend, await findOrStart(backend, name, create, who), who);
  } catch (error) {
    await backend.close();
    throw error;
  }
};

const openBackend = async ({ url, home, fetch }: RecorderOptions): Promise<Backend> => {
  if ((url === undefined) === (home === undefined))
    throw fail('E_USAGE', 'a recorder records to a server (url) or to a home: name one of the two');
  if (url !== undefined)
    return openServer(url, fetch ?? ((address, init) => globalThis.fetch(address, init)));
  const { openEmbedded } = await import('./home-backend.ts');
  return openEmbedded(home ?? '');
};

type Who = { readonly recorder: string } | { readonly actor: string };

const newId = (): string => globalThis.crypto.randomUUID();

const findOrStart = async (backend: Backend, name: string, create: boolean, who: Who): Promise<string> => {
  try {
    return await backend.find(name);
  } catch (error) {
    if (!create || !isStemmaError(error, 'E_HISTORY_NOT_FOUND')) throw error;
  }
  const id = newId();
  try {
    return (await sendAgain(() => backend.start({ body: { id, name, ...who } }))).position.history;
  } catch (error) {
    // Another was faster.
    if (!isStemmaError(error, 'E_HISTORY_EXISTS')) throw error;
    return backend.find(name);
  }
};

const recorderOf = (backend: Backend, history: string, who: Who): Recorder => {
  let before: Promise<unknown> = Promise.resolve();
  const inTurn = <T>(send: () => Promise<T>): Promise<T> => {
    const turn = before.then(() => sendAgain(send));
    before = turn.catch(() => undefined);
    return turn;
  };
  const bodyOf = ({ id = newId(), expected, notes }: Sending) => ({
    id,
    ...who,
    ...(expected === undefined ? {} : { expected }),
    ...(notes === undefined ? {} : { notes }),
  });
  const batch: Recorder['batch'] = async (fill, sending = {}) => {
    const filled = newBatch();
    await fill(filled);
    const body = { ...bodyOf(sending), steps: [...filled.steps] };
    return recordedOf(await inTurn(() => backend.command({ history, body })));
  };
  const at = (ref: string | undefined) => (ref === undefined ? {} : { at: ref });
  return {
    history,
    batch,
    insert: (parent, node, sending) => batch((one) => one.insert(parent, node), sending),
    replace: (id, set, sending) => batch((one) => one.replace(id, set), sending),
    move: (id, parent, sending) => batch((one) => one.move(id, parent), sending),
    remove: (id, sending) => batch((one) => one.remove(id), sending),
    commit: (sending) => batch((one) => one.commit(), sending),
    name: (name, sending) => batch((one) => one.name(name), sending),
    annotate: (note, sending) => batch((one) => one.annotate(note), sending),
    recordCall: async (messages, sending = {}) => {
      // The list is the agent's and goes on changing: what counts is what it is now.
      const body = { ...bodyOf(sending), messages: structuredClone(messages) as Record<string, unknown>[] };
      const answer = await inTurn(() => backend.recordCall({ history, body }));
      const { kept, replaced, removed, inserted } = answer;
      return { ...recordedOf(answer), kept, replaced, removed, inserted };
    },
    select: async (selector, window = {}) => {
      await before;
      return (await backend.select({ history, selector, ...window })).ids;
    },
    diff: async (a, b) => {
      await before;
      return backend.diff({ history, a, b });
    },
    export: async (ref) => {
      await before;
      return backend.export({ history, ...at(ref) });
    },
    thread: async (ref) => {
      await before;
      return backend.thread({ history, ...at(ref) });
    },
    messages: async (ref) => {
      await before;
      return backend.thread({ history, provider: 'openai', ...at(ref) });
    },
    snapshots: async () => {
      await before;
      return backend.snapshots(history);
    },
    close: async () => {
      await before;
      await backend.close();
    },
  };
};

const recordedOf = ({ position, repeated, events }: CommandAnswer): Recorded => ({
  seq: position.seq,
  label: position.label,
  repeated,
  ids: events.flatMap((event) =>
    event.type === 'NodeInserted' ? [(event as unknown as { node: { id: string } }).node.id] : [],
  ),
});
