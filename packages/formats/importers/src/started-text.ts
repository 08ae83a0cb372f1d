/** A text in pieces whose first line that is not blank is known, or the beginning of it. */
export type StartedText = { readonly firstLine: string; readonly pieces: AsyncIterable<string> };

/** So much of the first line shows what a text is. */
const MAX_START = 200;

/** Reads the first line, and gives the text from its beginning. */
export const startedText = async (pieces: AsyncIterable<string>): Promise<StartedText> => {
  const given = pieces[Symbol.asyncIterator]();
  const read: string[] = [];
  let start = '';
  let isDone = false;
  while (!isDone && !/[^\n]\n/.test(start) && start.length < MAX_START) {
    const next = await given.next();
    isDone = next.done === true;
    if (next.done === true) break;
    read.push(next.value);
    start = (start + next.value.slice(0, MAX_START)).replace(/^\s*\n/, '').slice(0, MAX_START * 2);
  }
  return {
    firstLine: start.split(/\r?\n/, 1)[0] ?? '',
    pieces: resumed(read, given, isDone),
  };
};

async function* resumed(
  read: readonly string[],
  rest: AsyncIterator<string>,
  isDone: boolean,
): AsyncIterable<string> {
  try {
    yield* read;
    if (isDone) return;
    for (let next = await rest.next(); next.done !== true; next = await rest.next()) yield next.value;
  } finally {
    await rest.return?.();
  }
}
