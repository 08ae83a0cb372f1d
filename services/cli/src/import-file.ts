import type { Outcome } from '@stemma/command-handler';
import { fail, isStemmaError, type ErrorCode } from '@stemma/errors';
import { isOf, nodeIn } from '@stemma/events';
import type { Command } from '@stemma/history';
import type { Home } from '@stemma/home';
import { readImport, type ImportItem, type ImportReport, type NameConversation } from '@stemma/importers';
import { setImmediate } from 'node:timers/promises';
import { openImportRest, type ImportRest } from './import-rest.ts';
import { openImportSource } from './import-source.ts';
import type { InputSurroundings } from './input.ts';

/** What an imported conversation came to. */
export type Imported = {
  readonly history: string;
  readonly name: string | null;
  readonly branch: string;
  readonly branchId: number;
  readonly file: string;
  readonly format: string;
  readonly cycles: number;
  readonly nodes: number;
  readonly events: number;
  readonly warnings: readonly string[];
  /** Counts of what was read, skipped, and kept without being understood. */
  readonly read: ImportReport['read'];
  readonly skipped: ImportReport['skipped'];
  readonly unknown: ImportReport['unknown'];
  /** True if all of it was recorded before. */
  readonly repeated: boolean;
};

/** A conversation of a file that could not be read. */
export type RefusedPart = { readonly place: string; readonly code: ErrorCode; readonly message: string };

/** What a file came to. */
export type ImportedFile = {
  readonly imported: readonly Imported[];
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
 * Records a file; without a home it is only read. Gives one entry for each conversation in it.
 *
 * @throws coded errors of the reading where no conversation can be read (then nothing is recorded) and of the recording; E_CANCELLED.
 */
export const importFile = async (
  opened: Home | null,
  file: string,
  options: ImportFileOptions,
): Promise<ImportedFile> => {
  using source = openImportSource(file, { stdin: options.stdin ?? process.stdin, signal: options.signal });
  let home = opened;
  const imported: Imported[] = [];
  const refused: RefusedPart[] = [];
  let tally = newTally();
  const pending = openPending();
  /** Bytes of the file: read by now, and when the command before was. */
  const read = { now: 0, before: 0 };
  let turn = performance.now();
  const rest = options.rest ?? openImportRest();
  const items = readImport(source, {
    format: options.format,
    name: options.name,
    partly: options.strict !== true,
    ...(home === null ? {} : { redact: (text: string) => home?.privacy.redactText(text) ?? text }),
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
  try {
    for await (const item of items) {
      options.signal.throwIfAborted();
      if (item.kind === 'command') {
        const bytes = read.now - read.before;
        read.before = read.now;
        // Nothing goes ahead of the start: if another history has the name, no later frame may land in it.
        if (item.renamed !== undefined) {
          await pending.all();
          await recordStart(home, item, options, tally);
        } else await pending.add(record(home, item.command, tally), bytes);
        if (!rest.isDue(bytes)) continue;
        await pending.all();
        home = await rest.take(home);
        continue;
      }
      if (item.kind === 'refused') {
        const { code, message } = item.error;
        refused.push({ place: item.place, code, message });
        continue;
      }
      await pending.all();
      rest.historyEnded();
      imported.push(toImported(file, item, tally));
      tally = newTally();
    }
  } catch (error) {
    await pending.settled();
    throw error;
  }
  return { imported, refused };
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

/** So many histories may have one name with a number behind it. */
const MOST_NAMESAKES = 10_000;

/** Records what starts a history: under another name if its own is only a proposal, and another history has it. */
const recordStart = async (
  home: Home | null,
  { command, renamed }: FirstItem,
  options: ImportFileOptions,
  tally: Tally,
): Promise<void> => {
  let first = command;
  for (let number = 2; ; number++)
    try {
      await record(home, asErasable(first, options), tally);
      return;
    } catch (error) {
      const name = nameIn(command);
      const isProposal = typeof options.name === 'function' && name !== null && renamed !== undefined;
      if (!isProposal || number > MOST_NAMESAKES || !isStemmaError(error, 'E_HISTORY_EXISTS')) throw error;
      await refuseCopyInTheClear(home, first, options);
      first = renamed(`${name}-${number}`);
    }
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

type Tally = { cycles: number; nodes: number; events: number; repeated: boolean };
const newTally = (): Tally => ({ cycles: 0, nodes: 0, events: 0, repeated: true });

const record = async (home: Home | null, command: Command, tally: Tally): Promise<void> => {
  if (home === null) {
    tally.repeated = false;
    for (const step of command.steps) {
      tally.cycles += step.op === 'commit' || step.op === 'import' ? 1 : 0;
      tally.nodes += step.op === 'insert' ? 1 + (step.siblings?.length ?? 0) : 0;
    }
    return;
  }
  countEvents(tally, await home.submit(command));
};

const countEvents = (tally: Tally, { events, repeated }: Outcome): void => {
  tally.repeated &&= repeated;
  tally.events += events.length;
  for (const event of events) {
    if (isOf(event, 'snapshot')) tally.cycles += 1;
    // Turns are made where a cycle ends: no file has them as nodes of their own.
    if (nodeIn(event) !== null && event.type !== 'TurnSealed') tally.nodes += 1;
  }
};

type ReportItem = Extract<ImportItem, { readonly kind: 'report' }>;

const toImported = (file: string, { history, name, report }: ReportItem, tally: Tally): Imported => ({
  history,
  name,
  branch: history,
  branchId: 0,
  file,
  format: report.format,
  ...tally,
  warnings: [...report.warnings, ...(report.moreWarnings > 0 ? [`and ${report.moreWarnings} more`] : [])],
  read: report.read,
  skipped: report.skipped,
  unknown: report.unknown,
});
