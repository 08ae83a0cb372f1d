/** The data of an event of a stream. `ended`: the blank line that ends the event came. */
export type EventData = { readonly data: string; readonly ended: boolean };

const LF = 0x0a;
const CR = 0x0d;

/**
 * The data of each server-sent event (HTML Standard, 9.2.6), in order; names, ids and comments are passed over, and
 * events without data too. Of an event that the end of the bytes cuts off, what there is.
 *
 * @throws TypeError at data that are not UTF-8.
 */
export function* eventStreamData(bytes: Uint8Array): Iterable<EventData> {
  const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });
  let data: string[] = [];
  let from = bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf ? 3 : 0;
  while (from < bytes.length) {
    const end = endOfLine(bytes, from);
    const ended = end < bytes.length;
    const value = valueOfData(bytes, from, end);
    // A character that the end of the bytes cuts in two is left out.
    if (value !== null) data.push(decoder.decode(bytes.subarray(value, end), { stream: !ended }));
    else if (end === from && data.length > 0) {
      yield { data: data.join('\n'), ended: true };
      data = [];
    }
    from = bytes[end] === CR && bytes[end + 1] === LF ? end + 2 : end + 1;
  }
  if (data.length > 0) yield { data: data.join('\n'), ended: false };
}

/** The index of the LF or CR that ends a line, or of the end of the bytes. */
const endOfLine = (bytes: Uint8Array, from: number): number => {
  for (let at = from; at < bytes.length; at++) if (bytes[at] === LF || bytes[at] === CR) return at;
  return bytes.length;
};

/** Where the value of a line begins that is a `data` field; null for any other line. */
const valueOfData = (bytes: Uint8Array, from: number, end: number): number | null => {
  for (let i = 0; i < 4; i++) if (bytes[from + i] !== 'data'.charCodeAt(i)) return null;
  const colon = from + 4;
  if (colon === end) return end;
  if (bytes[colon] !== 0x3a) return null;
  return bytes[colon + 1] === 0x20 ? colon + 2 : colon + 1;
};
