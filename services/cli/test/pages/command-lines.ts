/** A command line of Stemma on a page: what stands behind `stemma`, and where. */
export type ShownCommand = {
  readonly line: number;
  readonly words: readonly string[];
  /** It stands between backticks in a sentence. */
  readonly isInline: boolean;
};

const BLOCK = /^\s*```/;
const COMMAND = /^\s*(?:[A-Z_]+=(?:'[^']*'|"[^"]*"|\S+)\s+)*(?:npx |\.\/)?stemma (?<rest>.*)$/;
const INLINE = /(?<!`)`(?:[A-Z_]+=\S+ )*(?:npx |\.\/)?stemma (?<rest>[^`]+)`(?!`)/g;

/** Every command line of Stemma that a page shows: in blocks of commands, and between backticks. */
export const commandsOf = (page: string): readonly ShownCommand[] => {
  const found: ShownCommand[] = [];
  let blockInfo: string | undefined;
  for (const [i, text] of page.split('\n').entries()) {
    if (BLOCK.test(text)) {
      blockInfo = blockInfo === undefined ? text.trim().slice(3) : undefined;
      continue;
    }
    if (blockInfo === undefined)
      for (const { groups } of text.matchAll(INLINE))
        found.push({ line: i + 1, words: wordsOf(groups?.['rest'] ?? ''), isInline: true });
    else if (['', 'sh', 'sh not-run', 'console'].includes(blockInfo))
      for (const rest of linesIn(text)) found.push({ line: i + 1, words: wordsOf(rest), isInline: false });
  }
  return found;
};

/** What stands behind `stemma` in a line of a block: one command, or several between `&&`. */
const linesIn = (text: string): readonly string[] =>
  text
    .replace(/^\s*\$ /, '')
    .split(/ && /)
    .flatMap((part) => COMMAND.exec(part)?.groups?.['rest'] ?? []);

/** The words of a line as a shell reads them, up to a comment, a redirection, a pipe or the end of the command. */
export const wordsOf = (line: string): readonly string[] => {
  const words: string[] = [];
  const WORD =
    /\s*(?:(?<end>[|&;<>()]|\d?>|#)|(?<word>(?:'[^']*'|"(?:[^"\\]|\\.)*"|\\.|[^\s|&;<>()'"\\])+))/gy;
  for (const { groups } of line.matchAll(WORD)) {
    if (groups?.['end'] !== undefined) break;
    words.push(unquoted(groups?.['word'] ?? ''));
  }
  return words;
};

const unquoted = (word: string): string =>
  word.replace(
    /'([^']*)'|"((?:[^"\\]|\\.)*)"|\\(.)/g,
    (_all, single?: string, double?: string, one?: string) =>
      single ?? double?.replace(/\\(["\\$`])/g, '$1') ?? one ?? '',
  );
