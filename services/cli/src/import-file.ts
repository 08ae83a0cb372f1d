import { canonicalJson, sha256Hex, type WideJson } from '@stemma/canonical';
import type { Outcome } from '@stemma/command-handler';
import { fail, isStemmaError, type ErrorCode, type StemmaError } from '@stemma/errors';
import { isOf, nodeIn, type BranchPosition } from '@stemma/events';
import { importStep, type Command, type ImportFacts } from '@stemma/history';
import type { Home } from '@stemma/home';
import { readImport, type ImportItem, type NameConversation } from '@stemma/importers';
import { setImmediate } from 'node:timers/promises';
import { shownPath } from './checkpoint-server.ts';
import type { CallImport } from './import-calls.ts';
import { openFound, type Imported, type ImportedCounts } from './import-found.ts';
import type { ImportLinks } from './import-links.ts';
import { openImportRest, type ImportRest } from './import-rest.ts';
import { changedBranches, openImportedFrames, type ImportedFrames } from './imported-frames.ts';
import { openImportSource } from './import-source.ts';
import type { InputSurroundings } from './input.ts';
import { goOnBeside, partsThere, type Trial, type TrialForks } from './trial-forks.ts';

/** A conversation of a file that could not be read. */
export type RefusedPart = { readonly place: string; readonly code: ErrorCode; readonly message: string };

/** What a file came to, and what of it could not be read. */
export type ImportedFile = {
  /** Undefined: nothing of it could be read. */
  readonly imported: Imported | undefined;
  readonly refused: readonly RefusedPart[];
};

export type ImportFileOptions = {
  readonly format: string;
  /** A name is taken as it is; one that a function gives gets `-2`, `-3` … behind it where another history has it. */
  readonly name: string | null | NameConversation;
  /** If the histories are to be erasable: about whom. */
  readonly erasable?: { readonly subject: string | null };
  /** Records nothing of a file with a conversation that cannot be read. */
  readonly strict?: boolean;
  /** The file is being written: what may not be whole yet is left for later. */
  readonly mayGrow?: boolean;
  /** Trials of one task become branches of one history. */
  readonly forks?: TrialForks;
  /** Learns which conversations led to which. */
  readonly links?: ImportLinks;
  /** That of all files of an import. Default: one of this file, which keeps the home open. */
  readonly rest?: ImportRest;
  /** What `-` reads (default: stdin of the process). */
  readonly stdin?: InputSurroundings['stdin'];
  readonly signal: AbortSignal;
  readonly onProgress?: (bytes: number, total: number) => void;
};

/** A signal of the system is noticed when the event loop gets its turn; so often it does, in milliseconds. */
const TURN_EVERY = 50;

/** So many commands are under way at once, of so many bytes of the file: they become durable together. */
const MAX_PENDING = { commands: 64, bytes: 8 * 1024 * 1024 };

/**
 * Records a file; without a home it is only read.
 *
 * @throws coded errors of the reading where no conversation can be read (then nothing is recorded) and of the recording; E_CANCELLED.
 */
export const importFile = async (
  opened: Home | null,
  file: string,
  options: ImportFileOptions,
): Promise<ImportedFile> => {
  using source = openImportSource(file, { stdin: options.stdin ?? process.stdin, signal: options.signal });
  const state = { home: opened };
  const found = openFound(shownPath(file));
  const refused: RefusedPart[] = [];
  const open = new Map<number, OpenConversation>();
  const pending = openPending();
  let calls: CallImport | undefined;
  /** Bytes of the file: read by now, and when the command before was. */
  const read = { now: 0, before: 0 };
  let turn = performance.now();
  const rest = options.rest ?? openImportRest();
  const items = readImport(source, {
    format: options.format,
    name: options.name,
    partly: options.strict !== true,
    mayGrow: options.mayGrow === true,
    redact: (text: string) => state.home?.privacy.redactText(text) ?? text,
    // A file is read twice: once for what is wrong with it, once to record it.
    onProgress: (phase, bytes) => {
      options.signal.throwIfAborted();
      read.now = bytes;
      const size = source.size ?? 0;
      options.onProgress?.(phase === 'check' ? bytes : size + bytes, size * 2);
    },
    pause: async () => {
      if (performance.now() - turn < TURN_EVERY) return;
      await setImmediate();
      turn = performance.now();
      options.signal.throwIfAborted();
    },
  });
  const rested = async (bytes: number): Promise<void> => {
    if (!rest.isDue(bytes)) return;
    await pending.all();
    state.home = await rest.take(state.home);
  };
  try {
    for await (const item of items) {
      options.signal.throwIfAborted();
      const bytes = read.now - read.before;
      if (item.kind === 'command') {
        read.before = read.now;
        const conversation: OpenConversation = open.get(item.conversation) ?? {
          tally: newTally(),
          frames: openImportedFrames(),
          trial: state.home === null ? undefined : options.forks?.begin(item.command),
        };
        open.set(item.conversation, conversation);
        const { tally, frames, trial } = conversation;
        if (trial !== undefined && state.home !== null) {
          await pending.all();
          if (item.renamed === undefined) await recordInTrial(state.home, item.command, trial, tally);
          await rested(bytes);
          continue;
        }
        // Nothing goes ahead of the start: if another history has the name, no later frame may land in it.
        if (item.renamed !== undefined) {
          await pending.all();
          const outcome = await recordStart(state.home, item, options, tally);
          if (outcome !== undefined && item.frame !== undefined) frames.recorded(item.frame, outcome);
          if (outcome !== undefined) conversation.main = { branchId: 0, seq: outcome.seq };
          if (outcome !== undefined) options.forks?.recorded(item.command, outcome);
        } else {
          const work = recordNext(state.home, item, conversation, options.forks);
          // Trials are compared with it, command by command.
          if (options.forks !== undefined) await work;
          if (item.frame !== undefined && frames.waitFor({ finishes: item.finishes === true })) await work;
          await pending.add(work, bytes);
        }
        await rested(bytes);
        continue;
      }
      if (item.kind === 'refused') {
        const { code, message } = item.error;
        refused.push({ place: item.place, code, message });
        continue;
      }
      await pending.all();
      if (item.kind === 'exchange') {
        read.before = read.now;
        calls ??= await openCalls(state.home, options);
        await calls.add(state.home, item);
        await rested(bytes);
        continue;
      }
      if (item.kind === 'beside') {
        const histories = (await calls?.histories(state.home)) ?? [];
        for (const { history, summary } of histories)
          await recordSummary(state.home, history, { ...item, summary: summary.summary() });
        found.addBeside(item, histories);
        continue;
      }
      const { tally = newTally(), trial, parts = false } = open.get(item.conversation) ?? {};
      // What a history was imported from is said of its main branch.
      if (trial === undefined || parts)
        await recordSummary(state.home, item.history, { ...item.report, format: item.format });
      rest.historyEnded();
      options.links?.add(item, trial?.branch() ?? { history: item.history, branchId: 0 });
      found.add(item, tally, trial?.branch());
      if (parts) found.says(BESIDE);
      open.delete(item.conversation);
    }
  } catch (error) {
    await pending.settled();
    throw error;
  }
  return { imported: found.imported(), refused };
};

/** What the file has is the last fact of its import; the same facts are recorded once. */
const recordSummary = async (
  home: Home | null,
  history: string | null,
  { format, version, title, summary }: ImportFacts,
): Promise<void> => {
  if (home === null || history === null || summary.calls === undefined) return;
  const step = importStep({ format, version, title, summary });
  const id = `import-summary:${sha256Hex(canonicalJson([history, step as unknown as WideJson]))}`;
  await home.submit({ id, history, branchId: 0, by: { recorder: 'import' }, steps: [step] });
};

const openCalls = async (
  home: Home | null,
  { name, erasable, forks }: ImportFileOptions,
): Promise<CallImport> => {
  if (forks !== undefined)
    throw fail(
      'E_USAGE',
      '--as-forks is for conversations; calls that hold all their messages are put where they go on from',
    );
  const named = typeof name === 'string' ? name : null;
  if (erasable !== undefined && named === null)
    throw fail(
      'E_USAGE',
      '--erasable needs --history here: calls that hold all their messages are put where they go on from, and only those of one history stay in it',
    );
  const { openCallImport, startErasable } = await import('./import-calls.ts');
  if (home !== null && named !== null && erasable !== undefined) await startErasable(home, named, erasable);
  return openCallImport(named);
};

/** Commands that are under way. What refuses one is thrown where it is awaited. */
const openPending = () => {
  const pending: { readonly recorded: Promise<void>; readonly bytes: number }[] = [];
  let bytes = 0;
  const oldest = async (): Promise<void> => {
    const first = pending.shift();
    bytes -= first?.bytes ?? 0;
    await first?.recorded;
  };
  return {
    /** Adds a command, and waits while there are too many. */
    async add(recorded: Promise<void>, size: number): Promise<void> {
      recorded.catch(() => undefined);
      pending.push({ recorded, bytes: size });
      bytes += size;
      while (pending.length >= MAX_PENDING.commands || (bytes > MAX_PENDING.bytes && pending.length > 0))
        await oldest();
    },
    async all(): Promise<void> {
      while (pending.length > 0) await oldest();
    },
    settled: () => Promise.allSettled(pending.map(({ recorded }) => recorded)),
  };
};

type FirstItem = Extract<ImportItem, { readonly kind: 'command' }>;

const BESIDE =
  'the history goes on otherwise than the file, which was rewritten, or somebody changed the branch: what the file says is on a branch beside';

/** What is known of a conversation while it is recorded. */
type OpenConversation = {
  readonly tally: ImportedCounts;
  readonly frames: ImportedFrames;
  /** It is a branch of the first conversation, or goes on beside what was imported before. */
  trial?: Trial | undefined;
  /** True if the history goes on otherwise than the file: somebody changed the branch, or the file was rewritten. */
  parts?: boolean;
  /** Its last command on the main branch. */
  main?: BranchPosition;
};

/** Records the next command of a conversation that becomes a branch. */
const recordInTrial = async (
  home: Home,
  command: Command,
  trial: Trial,
  tally: ImportedCounts,
): Promise<void> => {
  const outcome = await trial.add(home, command);
  if (outcome !== undefined) countEvents(tally, outcome);
};

/** So many histories may have one name with a number behind it. */
const MOST_NAMESAKES = 10_000;

/** Records what starts a history: under another name if its own is only a proposal, and another history has it. */
const recordStart = async (
  home: Home | null,
  { command, renamed }: FirstItem,
  options: ImportFileOptions,
  tally: ImportedCounts,
): Promise<Outcome | undefined> => {
  let first = command;
  for (let number = 2; ; number++)
    try {
      return await record(home, asErasable(first, options), tally);
    } catch (error) {
      const name = nameIn(command);
      const isProposal = typeof options.name === 'function' && name !== null && renamed !== undefined;
      if (!isProposal || number > MOST_NAMESAKES || !isStemmaError(error, 'E_HISTORY_EXISTS')) throw error;
      await refuseCopyInTheClear(home, first, options);
      first = renamed(`${name}-${number}`);
    }
};

/** Records a command behind the first one. Of a file that may have grown, where its history stands now. */
const recordNext = async (
  home: Home | null,
  { command, frame, finishes = false }: FirstItem,
  conversation: OpenConversation,
  forks: TrialForks | undefined,
): Promise<void> => {
  const { tally, frames } = conversation;
  if (frame === undefined) {
    const outcome = await record(home, command, tally);
    if (outcome !== undefined) forks?.recorded(command, outcome);
    return;
  }
  /** Nothing is awaited before it is known that later commands are of a branch, too. */
  const goOn = (home: Home, error: unknown): Promise<void> => {
    if (command.branchId !== 0 || conversation.main === undefined) throw error;
    conversation.trial = goOnBeside(command.history, conversation.main, frame, frames);
    conversation.parts = true;
    return recordInTrial(home, command, conversation.trial, tally);
  };
  for (;;) {
    if (home !== null && frames.isChanged(command)) return goOn(home, partedFrom(command));
    try {
      const outcome = await record(home, frames.inHistory(command, frame), tally);
      if (outcome === undefined) return;
      frames.recorded(frame, outcome);
      if (outcome.branchId === 0) conversation.main = { branchId: 0, seq: outcome.seq };
      forks?.recorded(command, outcome);
      return;
    } catch (error) {
      // It says what there was of the answer then; its messages are all in the thread.
      if (finishes && isStemmaError(error, 'E_COMMAND_REUSED')) {
        frames.finishedBefore(frame);
        return;
      }
      if (home === null || !partsThere(error) || !frames.isKnown()) throw error;
      const isPassed = isStemmaError(error, 'E_CONFLICT') && (await passOthers(home, command, frame, frames));
      if (!isPassed) return goOn(home, error);
    }
  }
};

/** Why a command cannot stand on its branch. */
const partedFrom = ({ history }: Command): StemmaError =>
  fail(
    'E_CONFLICT',
    'the history goes on otherwise than the file: the file was rewritten, or somebody changed the branch since it was imported; import it under another name with --history',
    { history },
  );

/** Goes past what others wrote since the file was imported, if it is so. */
const passOthers = async (
  home: Home,
  command: Command,
  frame: number,
  frames: ImportedFrames,
): Promise<boolean> => {
  const { history, next = 0 } = frames.inHistory(command, frame);
  const others = await home.read.events(history, { from: next });
  for (const branchId of changedBranches(others, frames.isOwn)) frames.changedByOthers(branchId);
  frames.passed(frame, new Set(others.map(({ seq }) => seq)).size);
  return others.length > 0;
};

/** What has the name of an erasable history may be what that one holds: it is not recorded beside it where it would stay. */
const refuseCopyInTheClear = async (
  home: Home | null,
  command: Command,
  { erasable }: ImportFileOptions,
): Promise<void> => {
  if (erasable !== undefined || (await home?.privacy.erasableAs(command.history)) === undefined) return;
  const name = JSON.stringify(nameIn(command));
  throw fail(
    'E_HISTORY_EXISTS',
    `the history ${name} is there, and is erasable: import with --erasable, or give this one another name with --history`,
    { history: command.history },
  );
};

const nameIn = ({ steps: [first] }: Command): string | null =>
  first?.op === 'start' || first?.op === 'import' ? (first.name ?? null) : null;

/** The command, if it starts a history with what was asked for. */
const asErasable = (command: Command, { erasable }: ImportFileOptions): Command => {
  const [first, ...rest] = command.steps;
  if (erasable === undefined || (first?.op !== 'start' && first?.op !== 'import')) return command;
  return { ...command, steps: [{ ...first, erasable }, ...rest] };
};

const newTally = (): ImportedCounts => ({ cycles: 0, nodes: 0, events: 0, repeated: true });

const record = async (
  home: Home | null,
  command: Command,
  tally: ImportedCounts,
): Promise<Outcome | undefined> => {
  if (home === null) {
    tally.repeated = false;
    for (const step of command.steps) {
      tally.cycles += step.op === 'commit' || step.op === 'import' ? 1 : 0;
      tally.nodes += step.op === 'insert' ? 1 + (step.siblings?.length ?? 0) : 0;
    }
    return undefined;
  }
  const outcome = await home.submit(command);
  countEvents(tally, outcome);
  return outcome;
};

const countEvents = (tally: ImportedCounts, { events, repeated }: Outcome): void => {
  tally.repeated &&= repeated;
  tally.events += events.length;
  for (const event of events) {
    if (isOf(event, 'snapshot')) tally.cycles += 1;
    // Turns are made where a cycle ends: no file has them as nodes of their own.
    if (nodeIn(event) !== null && event.type !== 'TurnSealed') tally.nodes += 1;
  }
};
