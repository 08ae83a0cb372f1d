/** What a mind said: what it keeps to itself, and the messages that it adds to the pool. */
export type PoolAnswer = { readonly thinking: string; readonly messages: readonly string[] };

const SEPARATOR = /^[ \t]*---[ \t]*$/;

/**
 * Reads an answer (pool: Runner): what stands before the first line that is only `---` is private; what follows is split at such
 * lines into messages, without those that are empty. An answer without such a line is one message.
 */
export const parseAnswer = (text: string): PoolAnswer => {
  const parts: string[][] = [[]];
  for (const line of text.split(/\r\n|\n|\r/))
    if (SEPARATOR.test(line)) parts.push([]);
    else parts.at(-1)?.push(line);
  const [first = '', ...rest] = parts.map((lines) => lines.join('\n').trim());
  if (rest.length === 0) return { thinking: '', messages: first === '' ? [] : [first] };
  return { thinking: first, messages: rest.filter((message) => message !== '') };
};
