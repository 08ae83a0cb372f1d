import type { CallAnswer, CommandAnswer, Diff, Fetch, Step } from '@stemma/api';
import { fail, isStemmaError } from '@stemma/errors';
import { openServer, type Backend, type Place, type Snapshot } from './backend.ts';
import { sendAgain } from './send-again.ts';
import { newBatch, type Batch, type Injection, type NodeGiven, type Saving } from './steps.ts';

export type RecorderOptions = {
  /** Where to record: the address of a server, or the directory of a home of this process. One of the two. */
  readonly url?: string;
  readonly home?: string;
  /**
   * By name or id; a lineage of it as `HISTORY:NAME`. A name that is not there yet is started, unless `create` is false.
   */
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

export type Forking = { readonly at?: string; readonly name?: string; readonly description?: string };
/** `abandoned`: the name of what is left. */
export type Rolling = { readonly abandoned?: string; readonly description?: string };

/** One lineage, to write to and to ask. Commands are sent one after the other, in the order in which they were given. */
export type Recorder = {
  readonly history: string;
  /** What names the lineage: the history's id for the main one, else `HISTORY:STRAND`. After a rollback another. */
  readonly lineage: string;
  insert(parent: string, node: NodeGiven, sending?: Sending): Promise<Recorded>;
  replace(id: string, set: NodeGiven, sending?: Sending): Promise<Recorded>;
  move(id: string, parent: string, sending?: Sending): Promise<Recorded>;
  remove(id: string, sending?: Sending): Promise<Recorded>;
  commit(sending?: Sending): Promise<Recorded>;
  name(name: string, sending?: Sending): Promise<Recorded>;
  annotate(note: string, sending?: Sending): Promise<Recorded>;
  save(saving?: Saving, sending?: Sending): Promise<Recorded>;
  /** An actor's message enters the open cycle. @throws E_ACTOR_REQUIRED for a recorder */
  inject(text: string, how?: Injection, sending?: Sending): Promise<Recorded>;
  /** Begins a lineage at a position, unless said where this one stands, and opens it; this one goes on as it was. */
  fork(forking?: Forking, sending?: Sending): Promise<Recorder>;
  /** Goes on from an earlier position of this lineage; what came after it stays, as a lineage that was left. */
  rollback(to: string, rolling?: Rolling, sending?: Sending): Promise<Recorded>;
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
    return recorderOf(shared(backend), await findOrStart(backend, name, create, who), who);
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
  const { openEmbedded } = await import('#home-backend');
  return openEmbedded(home ?? '');
};

/** A backend that closes when all that were opened on it have. */
type Shared = Backend & { readonly open: () => void };

const shared = (backend: Backend): Shared => {
  let users = 1;
  return {
    ...backend,
    open: () => {
      users += 1;
    },
    close: async () => {
      users -= 1;
      if (users === 0) await backend.close();
    },
  };
};

type Who = { readonly recorder: string } | { readonly actor: string };

const newId = (): string => globalThis.crypto.randomUUID();

const findOrStart = async (backend: Backend, name: string, create: boolean, who: Who): Promise<Place> => {
  try {
    return await backend.find(name);
  } catch (error) {
    if (!create || !isStemmaError(error, 'E_HISTORY_NOT_FOUND')) throw error;
  }
  const id = newId();
  try {
    return (await sendAgain(() => backend.start({ body: { id, name, ...who } }))).position;
  } catch (error) {
    // Another was faster.
    if (!isStemmaError(error, 'E_HISTORY_EXISTS')) throw error;
    return backend.find(name);
  }
};

const recorderOf = (backend: Shared, { history, lineage: opened }: Place, who: Who): Recorder => {
  let lineage = opened;
  let before: Promise<unknown> = Promise.resolve();
  let closed: Promise<void> | undefined;
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
  const send = (steps: readonly Step[], sending: Sending): Promise<CommandAnswer> => {
    const body = { ...bodyOf(sending), steps: [...steps] };
    return inTurn(() => backend.command({ history: lineage, body }));
  };
  const batch: Recorder['batch'] = async (fill, sending = {}) => {
    const filled = newBatch();
    await fill(filled);
    return recordedOf(await send(filled.steps, sending));
  };
  const ask = async <T>(question: (of: { readonly history: string }) => Promise<T>): Promise<T> => {
    await before;
    return question({ history: lineage });
  };
  const at = (ref: string | undefined) => (ref === undefined ? {} : { at: ref });
  return {
    history,
    get lineage() {
      return lineage;
    },
    batch,
    insert: (parent, node, sending) => batch((one) => one.insert(parent, node), sending),
    replace: (id, set, sending) => batch((one) => one.replace(id, set), sending),
    move: (id, parent, sending) => batch((one) => one.move(id, parent), sending),
    remove: (id, sending) => batch((one) => one.remove(id), sending),
    commit: (sending) => batch((one) => one.commit(), sending),
    name: (name, sending) => batch((one) => one.name(name), sending),
    annotate: (note, sending) => batch((one) => one.annotate(note), sending),
    save: (saving, sending) => batch((one) => one.save(saving), sending),
    inject: (text, how, sending) => batch((one) => one.inject(text, how), sending),
    fork: async (forking = {}, sending = {}) => {
      const { position } = await send([{ op: 'fork', ...forking }], sending);
      backend.open();
      return recorderOf(backend, position, who);
    },
    rollback: async (to, rolling = {}, sending = {}) => {
      const body = { ...bodyOf(sending), steps: [{ op: 'rollback' as const, to, ...rolling }] };
      // Commands that were given after this one go to the lineage that goes on.
      const answer = await inTurn(async () => {
        const done = await backend.command({ history: lineage, body });
        lineage = done.position.lineage;
        return done;
      });
      return recordedOf(answer);
    },
    recordCall: async (messages, sending = {}) => {
      // The list is the agent's and goes on changing: what counts is what it is now.
      const body = { ...bodyOf(sending), messages: structuredClone(messages) as Record<string, unknown>[] };
      const answer = await inTurn(() => backend.recordCall({ history: lineage, body }));
      const { kept, replaced, removed, inserted } = answer;
      return { ...recordedOf(answer), kept, replaced, removed, inserted };
    },
    select: async (selector, window = {}) =>
      (await ask((of) => backend.select({ ...of, selector, ...window }))).ids,
    diff: (a, b) => ask((of) => backend.diff({ ...of, a, b })),
    export: (ref) => ask((of) => backend.export({ ...of, ...at(ref) })),
    thread: (ref) => ask((of) => backend.thread({ ...of, ...at(ref) })),
    messages: (ref) => ask((of) => backend.thread({ ...of, provider: 'openai', ...at(ref) })),
    snapshots: () => ask(({ history: of }) => backend.snapshots(of)),
    close: () => (closed ??= before.then(() => backend.close())),
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
