import { createParser } from 'eventsource-parser';

/** The data of an event of a stream. `ended`: the blank line that ends the event came. */
export type EventData = { readonly data: string; readonly ended: boolean };

/**
 * The data of each server-sent event (HTML Standard, 9.2.6), in order; names, ids and comments are passed over, and
 * events without data too. Of an event that the end of the bytes cuts off, what there is.
 *
 * @throws TypeError at data that are not UTF-8.
 */
export function* eventStreamData(bytes: Uint8Array): Iterable<EventData> {
  // One character a byte: what structures a stream is ASCII, and only data have to be UTF-8.
  const text = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString('latin1');
  const lastLine = Math.max(text.lastIndexOf('\n'), text.lastIndexOf('\r')) + 1;
  const found: string[] = [];
  const parser = createParser({ onEvent: ({ data }) => found.push(data) });
  parser.feed(text);
  for (const data of found) yield { data: decoded(data, false), ended: true };
  found.length = 0;
  parser.feed('\n\n');
  const isDataCut = DATA.test(lastLine === 0 ? text.replace(BOM, '') : text.slice(lastLine));
  for (const data of found) yield { data: decoded(data, isDataCut), ended: false };
}

const BOM = /^\xEF\xBB\xBF/;
const DATA = /^data(?::|$)/;
const WIDE = /[\x80-\xff]/;

/** @param isCut whether a character that the end cuts in two is left out */
const decoded = (data: string, isCut: boolean): string => {
  if (!WIDE.test(data)) return data;
  const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });
  return decoder.decode(Buffer.from(data, 'latin1'), { stream: isCut });
};
