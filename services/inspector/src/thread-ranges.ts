/** A message of a thread: the node that it is, and its bytes in the whole. */
export type ThreadRange = {
  readonly node: string;
  readonly text: string;
  /** The first byte, and the one behind the last. */
  readonly from: number;
  readonly to: number;
};

/** The parts of a thread in order: its messages, and the characters between them. Together they are the thread. */
export const threadRanges = (thread: string): readonly (string | ThreadRange)[] => {
  const encoder = new TextEncoder();
  const parts: (string | ThreadRange)[] = [];
  let [depth, inText, start, written, bytes] = [0, false, 0, 0, 0];
  for (let at = 0; at < thread.length; at += 1) {
    const character = thread[at];
    if (inText) {
      if (character === '\\') at += 1;
      else if (character === '"') inText = false;
    } else if (character === '"') inText = true;
    else if (character === '[' || character === '{') {
      depth += 1;
      if (depth === 2) start = at;
    } else if (character === ']' || character === '}') {
      if (depth === 2) {
        const between = thread.slice(written, start);
        const text = thread.slice(start, at + 1);
        const from = bytes + encoder.encode(between).length;
        const to = from + encoder.encode(text).length;
        const node = idOf(text);
        parts.push(between);
        parts.push(node === undefined ? text : { node, text, from, to });
        [written, bytes] = [at + 1, to];
      }
      depth -= 1;
    }
  }
  parts.push(thread.slice(written));
  return parts;
};

const idOf = (message: string): string | undefined => {
  const { id } = JSON.parse(message) as { readonly id?: unknown };
  return typeof id === 'string' ? id : undefined;
};
