import type { Outcome } from '@stemma/command-handler';
import { fail } from '@stemma/errors';
import { isOf, nodeIn } from '@stemma/events';
import type { Command } from '@stemma/history';
import type { Home } from '@stemma/home';
import { readImport, type ImportReport, type ImportSource } from '@stemma/importers';
import { createReadStream, createWriteStream, mkdtempSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';

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
  readonly signal: AbortSignal;
  readonly onProgress?: (bytes: number, total: number) => void;
};

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
  using source = await fileSource(file, options.signal);
  const imported: Imported[] = [];
  let tally = newTally();
  const pending: Promise<void>[] = [];
  const items = readImport(source, {
    format: options.format,
    name: options.name,
    // A file is read twice: once for what is wrong with it, once to record it.
    onProgress: (phase, bytes) => {
      options.signal.throwIfAborted();
      const size = source.size ?? 0;
      options.onProgress?.(phase === 'check' ? bytes : size + bytes, size * 2);
    },
  });
  try {
    for await (const item of items) {
      options.signal.throwIfAborted();
      if (item.kind === 'command') {
        const recorded = record(home, item.command, tally);
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

/**
 * A file that can be read twice: what a pipe gives (`/dev/stdin`) is copied to a temporary one first.
 *
 * @throws E_IO when it cannot be read
 */
const fileSource = async (file: string, signal: AbortSignal): Promise<ImportSource & Disposable> => {
  const stat = statSync(file, { throwIfNoEntry: false });
  if (stat === undefined) throw fail('E_IO', `the file ${file} does not exist`, { file });
  if (stat.isDirectory()) throw fail('E_IO', `${file} is a folder: name the files in it`, { file });
  if (stat.isFile())
    return {
      name: file,
      size: stat.size,
      open: () => createReadStream(file),
      [Symbol.dispose]: () => undefined,
    };
  if (!stat.isFIFO() && !stat.isSocket())
    throw fail('E_IO', `${file} is neither a file nor a pipe`, { file });
  const folder = mkdtempSync(join(tmpdir(), 'stemma-import-'));
  const copy = join(folder, 'copy');
  const dispose = (): void => rmSync(folder, { recursive: true, force: true });
  try {
    await pipeline(createReadStream(file), createWriteStream(copy, { mode: 0o600 }), { signal });
  } catch (error) {
    dispose();
    throw error;
  }
  return {
    name: file,
    size: statSync(copy).size,
    open: () => createReadStream(copy),
    [Symbol.dispose]: dispose,
  };
};
