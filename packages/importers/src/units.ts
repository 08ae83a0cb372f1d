import { parseWideJson, type WideJson } from '@stemma/canonical';
import { fail, isStemmaError } from '@stemma/errors';
import type { Unit } from './importer.ts';

/** The most UTF-16 units of a JSON document or a line of JSON lines, each of which is held in memory as one text. */
const MAX_DOCUMENT = 500 * 1024 * 1024;

/** The layout of a file: one JSON document, or one on every line. */
export type Layout = 'document' | 'lines';

/**
 * The JSON values of a text in pieces: lines if the first line that is not blank is a whole JSON value, else one
 * document. Only one line is held in memory. From the point where `readsLines` returns true, lines are returned
 * unparsed; it is asked after the first value.
 *
 * @throws E_INPUT_NOT_JSON, E_INPUT_TRUNCATED and the other errors of `parseWideJson`, naming the line;
 *   E_INPUT_TOO_LARGE.
 */
export async function* readUnits(
  pieces: AsyncIterable<string>,
  name: string,
  onLayout: (layout: Layout) => void,
  readsLines: () => boolean = () => false,
): AsyncIterable<Unit> {
  let layout: Layout | null = null;
  let number = 0;
  let length = 0;
  const document: string[] = [];
  for await (const line of readLines(pieces)) {
    number += 1;
    if (layout !== 'document' && readsLines()) {
      if (layout === null) onLayout((layout = 'lines'));
      yield { where: `line ${number}`, text: line, value: null, line: number };
      continue;
    }
    if (layout === null) {
      if (line.trim() === '') continue;
      const value = tryParse(line, `line ${number}`);
      layout = value === undefined ? 'document' : 'lines';
      onLayout(layout);
      if (value !== undefined) yield { where: `line ${number}`, text: line, value, line: number };
    } else if (layout === 'lines' && line.trim() !== '') {
      yield {
        where: `line ${number}`,
        text: line,
        value: parseWideJson(line, `line ${number}`),
        line: number,
      };
    }
    if (layout !== 'document') continue;
    document.push(line);
    length += line.length + 1;
    if (length > MAX_DOCUMENT) throw tooLarge();
  }
  if (layout === null) throw fail('E_INPUT_NOT_JSON', `${name} is empty`);
  if (layout === 'lines') return;
  const text = document.join('\n');
  yield { where: name, text, value: parseWideJson(text, name), line: 0 };
}

/** The value of a text that is whole JSON, else undefined (a document may begin like that). */
const tryParse = (text: string, where: string): WideJson | undefined => {
  try {
    return parseWideJson(text, where);
  } catch (error) {
    if (isStemmaError(error, 'E_INPUT_NOT_JSON') || isStemmaError(error, 'E_INPUT_TRUNCATED'))
      return undefined;
    throw error;
  }
};

/** Lines without their ends. Bounded: a line, or all lines of a document together, is at most {@link MAX_DOCUMENT} long. */
async function* readLines(pieces: AsyncIterable<string>): AsyncIterable<string> {
  let open: string[] = [];
  let length = 0;
  for await (const piece of pieces) {
    let start = 0;
    for (let end = piece.indexOf('\n'); end !== -1; end = piece.indexOf('\n', start)) {
      open.push(piece.slice(start, end));
      yield open.join('');
      open = [];
      length = 0;
      start = end + 1;
    }
    if (start < piece.length) open.push(piece.slice(start));
    length += piece.length - start;
    if (length > MAX_DOCUMENT) throw tooLarge();
  }
  if (open.length > 0) yield open.join('');
}

const tooLarge = (): Error =>
  fail(
    'E_INPUT_TOO_LARGE',
    `a JSON document has more than ${MAX_DOCUMENT} characters; JSON lines have no such limit`,
    {
      limit: MAX_DOCUMENT,
    },
  );
