import { errorToJson, fail, isStemmaError, StemmaError } from '@stemma/errors';

/** Where a command writes: results on stdout, talk and progress on stderr. */
export type Output = {
  readonly json: boolean;
  /** True when a person sits at stdout: only then tables are cut to the width. */
  readonly terminal: boolean;
  readonly width: number;
  /** Writes to stdout and resolves when the reader has taken it, so that a slow reader bounds memory. */
  readonly write: (text: string) => Promise<void>;
  /** One result: a JSON document with `--json`, else what `human` prints. */
  readonly result: (value: unknown, human: () => string) => Promise<void>;
  /** A sentence for people, on stderr. */
  readonly say: (text: string) => void;
};

/** JSON with bigints as bare digits (`created_at_ns`), keys in the order given. */
export const toJson = (value: unknown): string => {
  if (typeof value === 'bigint') return value.toString();
  if (value === null || typeof value !== 'object')
    return value === undefined ? 'null' : JSON.stringify(value);
  if (value instanceof Uint8Array) return `"${Buffer.from(value).toString('hex')}"`;
  if (Array.isArray(value)) return `[${value.map(toJson).join(',')}]`;
  const pairs = Object.entries(value).filter(([, item]) => item !== undefined);
  return `{${pairs.map(([key, item]) => `${JSON.stringify(key)}:${toJson(item)}`).join(',')}}`;
};

export const openOutput = (json: boolean): Output => {
  const write = (text: string): Promise<void> =>
    new Promise((resolve, reject) => {
      process.stdout.write(text, (error) => {
        if (error) reject(new StemmaError('E_IO', `stdout: ${error.message}`, {}, { cause: error }));
        else resolve();
      });
    });
  return {
    json,
    terminal: process.stdout.isTTY,
    width: process.stdout.isTTY ? process.stdout.columns : Number.POSITIVE_INFINITY,
    write,
    result: (value, human) => write(json ? toJson(value) + '\n' : human()),
    say: (text) => void process.stderr.write(printable(text) + '\n'),
  };
};

/** A text from outside as a terminal may show it: control and bidirectional characters as escapes. */
export const printable = (text: string): string =>
  text.replace(
    /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u200e\u200f\u202a-\u202e\u2066-\u2069\ufeff]/g,
    (character) => '\\u' + character.charCodeAt(0).toString(16).padStart(4, '0'),
  );

/** One line of at most `width` characters: white space folded, the rest told by an ellipsis. */
export const oneLine = (text: string, width: number): string => {
  const folded = printable(text.replace(/\s+/g, ' ')).trim();
  return folded.length > width ? folded.slice(0, Math.max(0, width - 1)) + '…' : folded;
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

/** Tells an error to a person or a program, and gives the exit code. */
export const reportError = (error: unknown, json: boolean): number => {
  const known = isStemmaError(error) ? error : fromSystem(error);
  if (json) process.stdout.write(toJson(errorToJson(known)) + '\n');
  process.stderr.write(`stemma: ${printable(known.message)} (${known.code})\n  ${known.row.help}\n`);
  if (process.env['STEMMA_DEBUG'] !== undefined && error instanceof Error)
    process.stderr.write(`${error.stack ?? ''}\n`);
  return known.row.exit;
};

const fromSystem = (error: unknown): StemmaError => {
  const message = error instanceof Error ? error.message : String(error);
  const system = error instanceof Error && 'syscall' in error;
  return fail(system ? 'E_IO' : 'E_INTERNAL', message);
};
