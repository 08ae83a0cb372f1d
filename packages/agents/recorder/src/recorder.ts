import type {
  AnswerOf,
  ApiFetch,
  CallAnswer,
  CommandAnswer,
  Diff,
  Endpoints,
  InputOf,
  StepRequest,
} from '@stemma/api';
import { fail, isStemmaError } from '@stemma/errors';
import type { RedactorOptions } from '@stemma/redaction';
import { defined } from '@stemma/values';
import { openServer, type Backend, type RecordingTarget, type Snapshot } from './backend.ts';
import { sendWithRetry } from './send-with-retry.ts';
import { newBatch, type Batch, type InjectOptions, type NodeAttributes, type SaveOptions } from './steps.ts';

export type RecorderOptions = {
  /** Where to record: the address of a gateway (`url`), or the directory of a home that this process opens. Give one of them. */
  readonly url?: string;
  readonly home?: string;
  /**
   * A history by name or id; `HISTORY:NAME` for one of its branches. A new name starts a history, unless `create` is
   * false.
   */
  readonly history: string;
  readonly create?: boolean;
  /** If it is started: its frames are sealed under a key that the step `erase` destroys. About whom, if somebody. */
  readonly erasable?: { readonly subject: string | null };
  /** Who writes: `recorder` for an agent's own record, `actor` for a person who intervenes. Give one of them. */
  readonly recorder?: string;
  readonly actor?: string;
  /** Rules by which secrets are taken out before anything is sent or recorded; those of the home or server come besides. */
  readonly redact?: RedactorOptions;
  /** Used instead of the global `fetch`. */
  readonly fetch?: ApiFetch;
};

export type SendOptions = {
  /** The id of the command; by default the recorder makes one. A command that is sent twice has one effect. */
  readonly id?: string;
  /** The `seq` that the branch's newest frame must have; otherwise the command is refused with E_CONFLICT. */
  readonly expected?: number;
  /** An actor's reason. */
  readonly notes?: string;
};

/** The result of a command. */
export type RecordingResult = {
  readonly seq: number;
  /** The position after the command: `@c4` if it is a snapshot, else `@s57`. */
  readonly label: string;
  /** True if the command was recorded before, and nothing was written now. */
  readonly repeated: boolean;
  /** The ids of the nodes that the command inserted, in order. */
  readonly ids: readonly string[];
};

/** A recorded call, and how many messages were kept, replaced, removed and inserted. */
export type RecordedCall = RecordingResult & Pick<CallAnswer, 'kept' | 'replaced' | 'removed' | 'inserted'>;

export type ForkOptions = { readonly at?: string; readonly name?: string; readonly description?: string };
/** `abandoned`: the new name of the abandoned branch. */
export type RollbackOptions = { readonly abandoned?: string; readonly description?: string };

/** How to go on with a model; `run` is made unless it is given, the actor is the recorder's. */
export type ContinueWith = Omit<InputOf<Endpoints['continueBranch']>['body'], 'run' | 'actor'> & {
  readonly run?: string;
};

/** How to ask a call again. */
export type AskWith = Omit<InputOf<Endpoints['retryCall']>['body'], 'run' | 'actor' | 'call'> & {
  readonly run?: string;
};

/** One branch to write to and to query. It sends commands one after the other, in the order of the calls. */
export type Recorder = {
  readonly history: string;
  /** The branch as the API names it: the history's id for `main`, else `HISTORY:BRANCH_ID`. A rollback changes it. */
  readonly branch: string;
  insert(parent: string, node: NodeAttributes, options?: SendOptions): Promise<RecordingResult>;
  replace(id: string, set: NodeAttributes, options?: SendOptions): Promise<RecordingResult>;
  move(id: string, parent: string, options?: SendOptions): Promise<RecordingResult>;
  remove(id: string, options?: SendOptions): Promise<RecordingResult>;
  commit(options?: SendOptions): Promise<RecordingResult>;
  name(name: string, options?: SendOptions): Promise<RecordingResult>;
  annotate(note: string, options?: SendOptions): Promise<RecordingResult>;
  save(saveOptions?: SaveOptions, options?: SendOptions): Promise<RecordingResult>;
  /** Inserts an actor's message into the open cycle. @throws E_ACTOR_REQUIRED for a recorder */
  inject(text: string, how?: InjectOptions, options?: SendOptions): Promise<RecordingResult>;
  /** Starts a branch at a position (default: the newest of this branch) and opens it. This branch does not change. */
  fork(forkOptions?: ForkOptions, options?: SendOptions): Promise<Recorder>;
  /** Continues from an earlier position. What came after it stays readable, as an abandoned branch. */
  rollback(to: string, rollbackOptions?: RollbackOptions, options?: SendOptions): Promise<RecordingResult>;
  /** Sends several steps as one command: all of them are recorded, or none. */
  batch(fill: (batch: Batch) => unknown, options?: SendOptions): Promise<RecordingResult>;
  /** Records the whole message list before a call: inserts new messages, removes those that are missing, and commits. */
  recordCall(messages: readonly object[], options?: SendOptions): Promise<RecordedCall>;
  /**
   * Goes on from a position with a model, and answers when the run has ended. This branch changes only if the position is its
   * tip; else the answer names the fork. A gateway asks only minds that it allows. @throws E_ACTOR_REQUIRED for a recorder
   */
  continue(how?: ContinueWith): Promise<AnswerOf<Endpoints['continueBranch']>>;
  /** Asks a call again, by its position or attempt; each answer is a fork. @throws E_ACTOR_REQUIRED for a recorder */
  retry(call: string, how?: AskWith): Promise<AnswerOf<Endpoints['retryCall']>>;
  select(
    selector: string,
    window?: { readonly limit?: number; readonly skip?: number },
  ): Promise<readonly string[]>;
  diff(a: string, b: string): Promise<Diff>;
  /** The export of the tree at a position, byte for byte; by default of the working state. */
  export(at?: string): Promise<string>;
  /** The provider thread at a position, byte for byte. */
  thread(at?: string): Promise<string>;
  /** The thread as a message list, as the chat completions API takes it. */
  messages(at?: string): Promise<string>;
  snapshots(): Promise<readonly Snapshot[]>;
  close(): Promise<void>;
};

/**
 * Opens a history to record to, on a gateway (`url`) or in a home. With `url` it loads only code that runs in a browser.
 *
 * @throws E_USAGE for options that contradict each other, E_REDACTION_INVALID, E_HISTORY_NOT_FOUND, E_NAME_INVALID, E_IO
 */
export const openRecorder = async (options: RecorderOptions): Promise<Recorder> => {
  const { recorder, actor } = options;
  if ((recorder === undefined) === (actor === undefined))
    throw fail('E_USAGE', 'give either a recorder or an actor');
  const who = recorder === undefined ? { actor: actor ?? '' } : { recorder };
  const opened = await openBackend(options);
  try {
    const backend = await redacting(opened, options.redact);
    return recorderOf(shared(backend), await findOrStart(backend, options, who), who);
  } catch (error) {
    await opened.close();
    throw error;
  }
};

const redacting = async (backend: Backend, rules: RedactorOptions | undefined): Promise<Backend> => {
  if (rules === undefined) return backend;
  const { redactingBackend } = await import('#redacting-backend');
  return redactingBackend(backend, rules);
};

const openBackend = async ({ url, home, fetch }: RecorderOptions): Promise<Backend> => {
  if ((url === undefined) === (home === undefined))
    throw fail('E_USAGE', 'give either a server (url) or a home to record to');
  if (url !== undefined)
    return openServer(url, fetch ?? ((address, init) => globalThis.fetch(address, init)));
  const { openEmbedded } = await import('#home-backend');
  return openEmbedded(home ?? '');
};

/** A backend that closes when every recorder that uses it has closed. */
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

/** @throws E_ACTOR_REQUIRED */
const actorOf = (who: Who): string => {
  if ('actor' in who) return who.actor;
  throw fail('E_ACTOR_REQUIRED', 'a person has a model asked: open the history as an actor');
};

const newId = (): string => globalThis.crypto.randomUUID();

const findOrStart = async (
  backend: Backend,
  { history: name, create = true, erasable }: RecorderOptions,
  who: Who,
): Promise<RecordingTarget> => {
  try {
    return await backend.find(name);
  } catch (error) {
    if (!create || !isStemmaError(error, 'E_HISTORY_NOT_FOUND')) throw error;
  }
  const id = newId();
  try {
    return (
      await sendWithRetry(() => backend.start({ body: { id, name, ...who, ...defined({ erasable }) } }))
    ).position;
  } catch (error) {
    // Another process started the history first.
    if (!isStemmaError(error, 'E_HISTORY_EXISTS')) throw error;
    return backend.find(name);
  }
};

const recorderOf = (backend: Shared, { history, branch: opened }: RecordingTarget, who: Who): Recorder => {
  let branch = opened;
  let before: Promise<unknown> = Promise.resolve();
  let closed: Promise<void> | undefined;
  const enqueue = <T>(send: () => Promise<T>): Promise<T> => {
    const turn = before.then(() => sendWithRetry(send));
    before = turn.catch(() => undefined);
    return turn;
  };
  const bodyOf = ({ id = newId(), expected, notes }: SendOptions) => ({
    id,
    ...who,
    ...defined({ expected, notes }),
  });
  const send = (steps: readonly StepRequest[], options: SendOptions): Promise<CommandAnswer> => {
    const body = { ...bodyOf(options), steps: [...steps] };
    return enqueue(() => backend.command({ history: branch, body }));
  };
  const batch: Recorder['batch'] = async (fill, options = {}) => {
    const filled = newBatch();
    await fill(filled);
    return recordingResult(await send(filled.steps, options));
  };
  const ask = async <T>(question: (target: { readonly history: string }) => Promise<T>): Promise<T> => {
    await before;
    return question({ history: branch });
  };
  const at = (ref: string | undefined) => (ref === undefined ? {} : { at: ref });
  return {
    history,
    get branch() {
      return branch;
    },
    batch,
    insert: (parent, node, options) => batch((one) => one.insert(parent, node), options),
    replace: (id, set, options) => batch((one) => one.replace(id, set), options),
    move: (id, parent, options) => batch((one) => one.move(id, parent), options),
    remove: (id, options) => batch((one) => one.remove(id), options),
    commit: (options) => batch((one) => one.commit(), options),
    name: (name, options) => batch((one) => one.name(name), options),
    annotate: (note, options) => batch((one) => one.annotate(note), options),
    save: (saveOptions, options) => batch((one) => one.save(saveOptions), options),
    inject: (text, how, options) => batch((one) => one.inject(text, how), options),
    fork: async (forkOptions = {}, options = {}) => {
      const { position } = await send([{ op: 'fork', ...forkOptions }], options);
      backend.open();
      return recorderOf(backend, position, who);
    },
    rollback: async (to, rollbackOptions = {}, options = {}) => {
      const body = { ...bodyOf(options), steps: [{ op: 'rollback' as const, to, ...rollbackOptions }] };
      // Commands after this one go to the new branch.
      const answer = await enqueue(async () => {
        const done = await backend.command({ history: branch, body });
        branch = done.position.branch;
        return done;
      });
      return recordingResult(answer);
    },
    recordCall: async (messages, options = {}) => {
      // The agent may change its list after the call: record it as it is now.
      const body = { ...bodyOf(options), messages: structuredClone(messages) as Record<string, unknown>[] };
      const answer = await enqueue(() => backend.recordCall({ history: branch, body }));
      const { kept, replaced, removed, inserted } = answer;
      return { ...recordingResult(answer), kept, replaced, removed, inserted };
    },
    continue: async (how = {}) => {
      const body = { run: newId(), ...how, actor: actorOf(who) };
      return enqueue(() => backend.continueBranch({ history: branch, body }));
    },
    retry: async (call, how = {}) => {
      const body = { run: newId(), ...how, actor: actorOf(who), call };
      return enqueue(() => backend.retryCall({ history: branch, body }));
    },
    select: async (selector, window = {}) =>
      (await ask((target) => backend.select({ ...target, selector, ...window }))).ids,
    diff: (a, b) => ask((target) => backend.diff({ ...target, a, b })),
    export: (ref) => ask((target) => backend.export({ ...target, ...at(ref) })),
    thread: (ref) => ask((target) => backend.thread({ ...target, ...at(ref) })),
    messages: (ref) => ask((target) => backend.thread({ ...target, provider: 'openai', ...at(ref) })),
    snapshots: () => ask(({ history: target }) => backend.snapshots(target)),
    close: () => (closed ??= before.then(() => backend.close())),
  };
};

const recordingResult = ({ position, repeated, events }: CommandAnswer): RecordingResult => ({
  seq: position.seq,
  label: position.label,
  repeated,
  ids: events.flatMap((event) =>
    event.type === 'NodeInserted' ? [(event as unknown as { node: { id: string } }).node.id] : [],
  ),
});
