import { cutText, toWireJson } from '@stemma/api';
import { errorToJson, fail, isStemmaError, StemmaError } from '@stemma/errors';
import type { Surroundings } from './surroundings.ts';

/** Where a command writes: results on stdout, talk and progress on stderr. */
export type Output = {
  readonly json: boolean;
  /** Characters in a line of the terminal at stdout; without one, no limit. */
  readonly width: number;
  /** Aborts when the reader of stdout has gone away. */
  readonly unread: AbortSignal;
  /**
   * Writes to stdout and resolves when the reader has taken it, so that a slow reader bounds memory. What nobody reads
   * any more is dropped. @throws E_IO
   */
  readonly write: (text: string) => Promise<void>;
  /** One result: a JSON document with `--json`, else what `human` prints. */
  readonly result: (value: unknown, human: () => string) => Promise<void>;
  /** A sentence for people, on stderr. */
  readonly say: (text: string) => void;
  /** An error: its document on stdout with `--json`, its sentence on stderr. */
  readonly error: (error: StemmaError, stack: string) => void;
};

export const openOutput = ({ stdout, stderr, env }: Surroundings, json: boolean): Output => {
  const gone = new AbortController();
  // Every failure is met by the write that it befalls, or by nobody.
  for (const stream of [stdout, stderr])
    if (stream.listenerCount('error') === 0) stream.on('error', () => undefined);
  const write = (text: string): Promise<void> =>
    new Promise((resolve, reject) => {
      if (gone.signal.aborted) {
        resolve();
        return;
      }
      stdout.write(text, (error) => {
        if (!error) resolve();
        else if ((error as NodeJS.ErrnoException).code !== 'EPIPE')
          reject(new StemmaError('E_IO', `stdout: ${error.message}`, {}, { cause: error }));
        else {
          gone.abort();
          resolve();
        }
      });
    });
  return {
    json,
    width: stdout.isTTY === true ? (stdout.columns ?? 80) : Number.POSITIVE_INFINITY,
    unread: gone.signal,
    write,
    result: (value, human) => write(json ? toWireJson(value) + '\n' : human()),
    say: (text) => void stderr.write(printable(text) + '\n'),
    error: (error, stack) => {
      if (json) stdout.write(toWireJson(errorToJson(error)) + '\n');
      stderr.write(`stemma: ${printable(error.message)} (${error.code})\n  ${error.row.help}\n`);
      if (env['STEMMA_DEBUG'] !== undefined) stderr.write(`${stack}\n`);
    },
  };
};

/** A text from outside as a terminal may show it: control and bidirectional characters as escapes. */
export const printable = (text: string): string =>
  text.replace(
    /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u200e\u200f\u202a-\u202e\u2066-\u2069\ufeff]/g,
    (character) => '\\u' + character.charCodeAt(0).toString(16).padStart(4, '0'),
  );

/** One line of at most `width` characters: white space folded, an ellipsis for the rest. */
export const oneLine = (text: string, width: number): string => {
  const folded = printable(text.replace(/\s+/g, ' ')).trim();
  return cutAt(folded, width);
};

/** At most `width` characters of a line, an ellipsis for the rest; no character is cut in two. */
export const cutAt = (line: string, width: number): string => {
  return line.length <= width ? line : cutText(line, Math.max(0, width - 1)) + '…';
};

/** Rows as aligned columns under a head, one line each. */
export const table = (head: readonly string[], rows: readonly (readonly string[])[]): string => {
  const widths = head.map((title, i) => Math.max(title.length, ...rows.map((row) => (row[i] ?? '').length)));
  const line = (cells: readonly string[]): string =>
    cells
      .map((cell, i) => (i === cells.length - 1 ? cell : cell.padEnd(widths[i] ?? 0)))
      .join('  ')
      .trimEnd() + '\n';
  return [head, ...rows].map(line).join('');
};

/** Prints an error for a person or a program, and returns the exit code. */
export const reportError = (error: unknown, output: Output): number => {
  const known = isStemmaError(error) ? error : fromSystem(error);
  output.error(known, error instanceof Error ? (error.stack ?? '') : '');
  return known.row.exit;
};

const fromSystem = (error: unknown): StemmaError => {
  const message = error instanceof Error ? error.message : String(error);
  const system = error instanceof Error && 'syscall' in error;
  return fail(system ? 'E_IO' : 'E_INTERNAL', message);
};
