/** A message of a thread: the node that it is, and its bytes in the whole. */
export type ThreadRange = {
  readonly node: string;
  readonly text: string;
  /** The first byte, and the one behind the last. */
  readonly from: number;
  readonly to: number;
};

/** A message of a thread, or the characters between two. */
export type BytePart = string | ThreadRange;

/** The parts of a thread in order, which together are the thread. It is ASCII (context-tree §4), so its characters are its bytes. */
export const threadRanges = (thread: string): readonly BytePart[] => {
  const parts: BytePart[] = [];
  let [depth, inText, from, written] = [0, false, 0, 0];
  for (let at = 0; at < thread.length; at += 1) {
    const character = thread[at];
    if (inText) {
      if (character === '\\') at += 1;
      else if (character === '"') inText = false;
    } else if (character === '"') inText = true;
    else if (character === '[' || character === '{') {
      depth += 1;
      if (depth === 2) from = at;
    } else if (character === ']' || character === '}') {
      if (depth === 2) {
        const to = at + 1;
        const text = thread.slice(from, to);
        const node = idOf(text);
        parts.push(thread.slice(written, from), node === undefined ? text : { node, text, from, to });
        written = to;
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
