/** A line of an event stream: the name of its field, its value, the line as it stands, and the characters that end it. */
export type StreamLine = {
  readonly field: string;
  readonly value: string;
  readonly line: string;
  readonly end: string;
};

/** The lines with the data of one event. `ended`: the blank line that ends the event came. */
export type StreamEvent = {
  readonly lines: readonly number[];
  readonly data: string;
  readonly ended: boolean;
};

/** True for a text that begins as a stream of server-sent events. */
export const isEventStream = (text: string): boolean => /^\uFEFF?\s*(?:data|event|id|retry)?:/u.test(text);

/** The lines of a stream (HTML Standard, 9.2.6), and its events that have data. */
export const readStream = (
  text: string,
): { readonly lines: readonly StreamLine[]; readonly events: readonly StreamEvent[] } => {
  const lines = [...text.matchAll(/([^\r\n]*)(\r\n|\r|\n|$)/gu)]
    .filter(([whole]) => whole !== '')
    .map(([, line = '', end = '']): StreamLine => ({ ...fieldOf(line.replace(/^\uFEFF/u, '')), line, end }));
  const events: StreamEvent[] = [];
  let data: number[] = [];
  const take = (ended: boolean): void => {
    if (data.length > 0)
      events.push({ lines: data, data: data.map((at) => lines[at]?.value ?? '').join('\n'), ended });
    data = [];
  };
  for (const [at, { field, value, end }] of lines.entries()) {
    if (field === 'data') data.push(at);
    // A line that is cut off is not the end of an event.
    else if (field === '' && value === '' && end !== '') take(true);
  }
  take(false);
  return { lines, events };
};

/** A comment has the field `:`. */
const fieldOf = (line: string): { readonly field: string; readonly value: string } => {
  const colon = line.indexOf(':');
  if (colon === -1) return { field: line, value: '' };
  return { field: colon === 0 ? ':' : line.slice(0, colon), value: line.slice(colon + 1).replace(/^ /u, '') };
};

export const printLines = (lines: readonly StreamLine[]): string =>
  lines.map(({ line, end }) => line + end).join('');
