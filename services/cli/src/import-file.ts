import type { Outcome } from '@stemma/command-handler';
import { isOf, nodeIn } from '@stemma/events';
import type { Command } from '@stemma/history';
import type { Home } from '@stemma/home';
import { readImport, type ImportReport } from '@stemma/importers';
import { setImmediate } from 'node:timers/promises';
import { openImportSource } from './import-source.ts';
import type { InputSurroundings } from './input.ts';

/** What an imported conversation came to. */
export type Imported = {
  readonly history: string;
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
};

export type ImportFileOptions = {
  readonly format: string;
  readonly name: string | null;
  /** If the histories are to be erasable: about whom. */
  readonly erasable?: { readonly subject: string | null };
  /** What `-` reads (default: stdin of the process). */
  readonly stdin?: InputSurroundings['stdin'];
  readonly signal: AbortSignal;
  readonly onProgress?: (bytes: number, total: number) => void;
};

/** A signal of the system is noticed when the event loop gets its turn; so often it does, in milliseconds. */
const TURN_EVERY = 50;

/** So many commands are under way at once: they become durable together. */
const MAX_PENDING = 64;

/**
 * Records a file; without a home it is only read. Gives one entry for each conversation in it.
 *
 * @throws coded errors of the reading (then nothing is recorded) and of the recording; E_CANCELLED.
 */
export const importFile = async (
  home: Home | null,
  file: string,
  options: ImportFileOptions,
): Promise<readonly Imported[]> => {
  using source = openImportSource(file, { stdin: options.stdin ?? process.stdin, signal: options.signal });
  const imported: Imported[] = [];
  let tally = newTally();
  const pending: Promise<void>[] = [];
  let turn = performance.now();
  const items = readImport(source, {
    format: options.format,
    name: options.name,
    // A file is read twice: once for what is wrong with it, once to record it.
    onProgress: (phase, bytes) => {
      options.signal.throwIfAborted();
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
        const recorded = record(home, asErasable(item.command, options), tally);
        recorded.catch(() => undefined); // reported where it is awaited
        pending.push(recorded);
        // Nothing goes ahead of the start: if another history has the name, no later frame may land in it.
        if (pending.length >= MAX_PENDING || tally.events === 0) await pending.shift();
        continue;
      }
      await Promise.all(pending.splice(0));
      imported.push(toImported(file, item.history, item.report, tally));
      tally = newTally();
    }
  } catch (error) {
    await Promise.allSettled(pending);
    throw error;
  }
  return imported;
};

/** The command, if it starts a history with what was asked for. */
const asErasable = (command: Command, { erasable }: ImportFileOptions): Command => {
  const [first, ...rest] = command.steps;
  if (erasable === undefined || (first?.op !== 'start' && first?.op !== 'import')) return command;
  return { ...command, steps: [{ ...first, erasable }, ...rest] };
};

type Tally = { cycles: number; nodes: number; events: number };
const newTally = (): Tally => ({ cycles: 0, nodes: 0, events: 0 });

const record = async (home: Home | null, command: Command, tally: Tally): Promise<void> => {
  if (home === null) {
    for (const step of command.steps) {
      tally.cycles += step.op === 'commit' || step.op === 'import' ? 1 : 0;
      tally.nodes += step.op === 'insert' ? 1 + (step.siblings?.length ?? 0) : 0;
    }
    return;
  }
  countEvents(tally, await home.submit(command));
};

const countEvents = (tally: Tally, { events }: Outcome): void => {
  tally.events += events.length;
  for (const event of events) {
    if (isOf(event, 'snapshot')) tally.cycles += 1;
    // Turns are made where a cycle ends: no file has them as nodes of their own.
    if (nodeIn(event) !== null && event.type !== 'TurnSealed') tally.nodes += 1;
  }
};

const toImported = (file: string, history: string, report: ImportReport, tally: Tally): Imported => ({
  history,
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
