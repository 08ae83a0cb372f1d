import { cutText, toWireJson } from '@stemma/api';
import { echo, errorToJson, fail, isStemmaError, StemmaError, visibleText } from '@stemma/errors';
import type { Surroundings } from './surroundings.ts';

/**
 * Where a command writes: results on stdout, talk and progress on stderr.
 *
 * Everything passes through {@link visibleText} here, so no text that came in can steer a terminal or hide on it. In JSON
 * the escapes mean the same characters: documents, JSON Lines, threads and exports keep their values, and what is
 * canonical, so ASCII, its bytes.
 */
export type Output = {
  readonly json: boolean;
  /** True if stdout is a terminal, and if it shows colours. */
  readonly isTerminal: boolean;
  readonly colours: boolean;
  /** True if a language model reads it (`--output agent`): texts to read, never bytes. */
  readonly isForAgent: boolean;
  /** Characters in a line of the terminal at stdout; without one, no limit. */
  readonly width: number;
  /** Aborts when the reader of stdout has gone away. */
  readonly unread: AbortSignal;
  /**
   * Writes to stdout and resolves when the reader has taken it, so that a slow reader bounds memory. What nobody reads
   * any more is dropped. @throws E_IO
   */
  readonly write: (text: string) => Promise<void>;
  /** As `write`, for text that is visible already and has line ends of its own: CSV. */
  readonly writeLines: (text: string) => Promise<void>;
  /** Bytes as they are; on a terminal as visible text. */
  readonly writeBytes: (bytes: Uint8Array) => Promise<void>;
  /** One result: a JSON document with `--json`, else what `human` prints. */
  readonly result: (value: unknown, human: () => string) => Promise<void>;
  /**
   * One JSON document, a list, written while its items come, so that it may be larger than memory. If they end with an error
   * the document stays open: no reader takes a part for the whole.
   */
  readonly list: (items: AsyncIterable<unknown>) => Promise<void>;
  /** A sentence for people, on stderr. */
  readonly say: (text: string) => void;
  /** An error: its document on stdout with `--json`, its sentence on stderr. */
  /** @param example how the command is used */
  readonly error: (error: StemmaError, stack: string, example?: string) => void;
};

/** Characters of a list that are written at a time. */
const LIST_CHUNK = 64 * 1024;

export const openOutput = ({ stdout, stderr, env }: Surroundings, json: boolean): Output => {
  const gone = new AbortController();
  // Every failure is met by the write that it befalls, or by nobody.
  for (const stream of [stdout, stderr])
    if (stream.listenerCount('error') === 0) stream.on('error', () => undefined);
  const writeLines = (text: string | Uint8Array): Promise<void> =>
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
  const width = stdout.isTTY === true ? (stdout.columns ?? 80) : Number.POSITIVE_INFINITY;
  const write = (text: string): Promise<void> => writeLines(visibleText(text));
  return {
    json,
    isTerminal: stdout.isTTY === true,
    isForAgent: false,
    colours: stdout.isTTY === true && (env['NO_COLOR'] ?? '') === '' && env['TERM'] !== 'dumb',
    width,
    unread: gone.signal,
    write,
    writeLines,
    writeBytes: (bytes) => (stdout.isTTY === true ? write(Buffer.from(bytes).toString()) : writeLines(bytes)),
    result: (value, human) => write(json ? toWireJson(value) + '\n' : wrapped(human(), width)),
    async list(items) {
      let text = '[';
      let separator = '';
      for await (const item of items) {
        text += separator + toWireJson(item);
        separator = ',';
        if (text.length < LIST_CHUNK) continue;
        await write(text);
        text = '';
      }
      await write(`${text}]\n`);
    },
    say: (text) => void stderr.write(printable(text) + '\n'),
    error: (error, stack, example) => {
      if (json) stdout.write(visibleText(toWireJson(errorToJson(error))) + '\n');
      stderr.write(errorText(error, example));
      if (env['STEMMA_DEBUG'] !== undefined) stderr.write(`${visibleText(stack)}\n`);
    },
  };
};

/** An error in sentences. @param example how the command is used */
export const errorText = (error: StemmaError, example?: string): string =>
  `stemma: ${printable(error.message)} (${error.code})\n  ${error.row.help}\n${example === undefined ? '' : `  Example: ${example}\n`}`;

/** A text from outside as a part of a line: hidden characters, tabs and line ends as escapes. */
export const printable = (text: string): string =>
  visibleText(text).replace(/[\t\n]/g, (character) => (character === '\t' ? '\\t' : '\\n'));

/** A text of several lines behind a title of `width` characters: no line of it begins where a title does. */
export const indented = (text: string, width: number): string =>
  visibleText(text).replaceAll('\n', `\n${' '.repeat(width)}`);

/** One line of at most `width` characters: white space folded, an ellipsis for the rest. */
export const oneLine = (text: string, width: number): string => {
  const folded = visibleText(text.replace(/[ \t\n\r]+/g, ' ')).trim();
  return cutAt(folded, width);
};

/** At most `width` characters of a line, an ellipsis for the rest; no character is cut in two. */
export const cutAt = (line: string, width: number): string => {
  return line.length <= width ? line : cutText(line, Math.max(0, width - 1)) + '…';
};

const WIDE = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}\uff01-\uff60]/gu;
const MARKS = /\p{M}/gu;

/** The columns that a text takes on a terminal: letters of East Asia take two, marks none. */
const columnsOf = (text: string): number =>
  /^[\x20-\x7e]*$/.test(text)
    ? text.length
    : text.length + (text.match(WIDE)?.length ?? 0) - (text.match(MARKS)?.length ?? 0);

/** A cell of exactly so many columns, unless it is the last of its line. */
const padded = (cell: string, width: number): string =>
  cell + ' '.repeat(Math.max(0, width - columnsOf(cell)));

/** What stands in front of the text of a line: white space, or a title with at least two spaces behind it. */
const LEAD = /^(?: *\S+ {2,}| *)/;

/**
 * Lines that are wider than the terminal, broken between cells or words; what follows stands below the text of its line. A word
 * stays whole, however long: a path or a hash is copied.
 */
export const wrapped = (text: string, width: number): string =>
  width === Number.POSITIVE_INFINITY
    ? text
    : text
        .split('\n')
        .map((line) => (columnsOf(line) <= width ? line : wrappedLine(line, width)))
        .join('\n');

const wrappedLine = (line: string, width: number): string => {
  const [title = ''] = LEAD.exec(line) ?? [];
  const lead = columnsOf(title);
  const indent = ' '.repeat(lead === 0 || lead > width / 2 ? 2 : lead);
  const lines: string[] = [];
  let [open, columns, start] = [title, lead, Math.min(lead, indent.length)];
  const next = (): void => {
    lines.push(open.trimEnd());
    [open, columns, start] = [indent, indent.length, indent.length];
  };
  for (const cell of line.slice(title.length).split(/(?<= {2})(?! )/)) {
    // A cell that fits into a line of its own is not divided.
    if (
      columns + columnsOf(cell.trimEnd()) > width &&
      columns > start &&
      columnsOf(cell) + indent.length <= width
    )
      next();
    for (const word of cell.split(/(?<= )(?! )/)) {
      if (columns + columnsOf(word.trimEnd()) > width && columns > start) next();
      open += word;
      columns += columnsOf(word);
    }
  }
  return [...lines, open.trimEnd()].join('\n');
};

/** At most so many columns of a cell, an ellipsis for the rest. */
const cutCell = (cell: string, width: number): string => {
  let shown = cutAt(cell, width);
  for (let most = width - 1; columnsOf(shown) > width && most > 0; most--) shown = cutAt(cell, most);
  return shown;
};

/** A column is not made narrower than this. */
const NARROWEST = 8;

/**
 * Rows as aligned columns under a head, one line each, whatever the cells hold. Where they are wider than the terminal, the columns
 * that give way are left out, the first of them first; then columns are cut from the last to the second: the first ones say most.
 */
export const table = (
  titles: readonly string[],
  cellRows: readonly (readonly string[])[],
  width = Number.POSITIVE_INFINITY,
  givesWay: readonly string[] = [],
): string => {
  const all = cellRows.map((row) => row.map(printable));
  const natural = titles.map((title, i) =>
    all.reduce((most, row) => Math.max(most, columnsOf(row[i] ?? '')), title.length),
  );
  const left = new Set(titles.keys());
  const isTooWide = (): boolean => [...left].reduce((sum, i) => sum + (natural[i] ?? 0) + 2, -2) > width;
  for (const title of givesWay) if (isTooWide()) left.delete(titles.indexOf(title));
  const only = <T>(cells: readonly T[]): readonly T[] => cells.filter((_, i) => left.has(i));
  const [head, rows] = [only(titles), all.map(only)];
  const widths = fitted(only(natural), width);
  const line = (cells: readonly string[]): string =>
    cells
      .map((cell, i) => padded(cutCell(cell, widths[i] ?? 0), i === cells.length - 1 ? 0 : (widths[i] ?? 0)))
      .join('  ')
      .trimEnd() + '\n';
  return [head, ...rows].map(line).join('');
};

const fitted = (widths: readonly number[], width: number): readonly number[] => {
  const fitting = [...widths];
  let over = fitting.reduce((sum, each) => sum + each + 2, -2) - width;
  for (let i = fitting.length - 1; i >= 0 && over > 0; i--) {
    const own = fitting[i] ?? 0;
    const cut = Math.min(over, Math.max(0, own - NARROWEST));
    fitting[i] = own - cut;
    over -= cut;
  }
  return fitting;
};

/** Prints an error for a person or a program, and returns the exit code. @param example how the command is used */
export const reportError = (error: unknown, output: Output, example?: string): number => {
  const known = isStemmaError(error) ? error : fromSystem(error);
  output.error(
    known,
    error instanceof Error ? (error.stack ?? '') : '',
    known.code === 'E_USAGE' ? example : undefined,
  );
  return known.row.exit;
};

const fromSystem = (error: unknown): StemmaError => {
  if (!(error instanceof Error)) return fail('E_INTERNAL', String(error));
  if (!('syscall' in error)) return fail('E_INTERNAL', error.message);
  const { path = '' } = error as NodeJS.ErrnoException;
  return fail('E_IO', error.message.replaceAll(path, echo(path)));
};
