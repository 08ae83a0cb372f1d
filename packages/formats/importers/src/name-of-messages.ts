import { isJsonObject, type WideJson } from '@stemma/canonical';
import { nameOfWords } from '@stemma/errors';
import { textOfContent } from '@stemma/model-apis';

/**
 * The first words that a person says, as a name; undefined if there are none. One word alone could be the name that somebody chose for
 * another history: `chat-` stands before it. What programs put around a person's words is left out: blocks such as
 * `<system-reminder>…</system-reminder>` before them, and messages that are a summary of what was said before; where nothing else
 * is said, they are what it is called after.
 *
 * @param redact takes secrets out of a text, where the messages still have them
 */
export const nameOfMessages = (
  messages: readonly WideJson[],
  redact: (text: string) => string = (text) => text,
): string | undefined => {
  const texts = messages.flatMap((message) =>
    isJsonObject(message) && message['role'] === 'user' ? [textsOf(message['content'])] : [],
  );
  const own = texts.map((parts) => parts.map(withoutBlocks).filter((part) => part.trim() !== ''));
  const said = own
    .filter(([first]) => first !== undefined && !SUMMARY.test(first))
    .map((parts) => parts.join(' '));
  for (const text of [...said, ...texts.map((parts) => parts.join(' '))]) {
    const words = nameOfWords(redact(text));
    if (words !== undefined) return words.includes('-') ? words : `chat-${words}`;
  }
  return undefined;
};

/** How texts begin that agents write in place of what was said. */
const SUMMARY =
  /^\s*(?:\[?(?:conversation )?summary(?: of\b|:)|here is a summary\b|this session is being continued\b|previous conversation\b|\[?compacted\b)/i;

/** The texts of a message, each part for itself: clients put what is theirs into parts of their own. */
const textsOf = (content: WideJson | undefined): readonly string[] =>
  Array.isArray(content)
    ? (content as readonly WideJson[]).map((part) => textOfContent([part]))
    : [textOfContent(content)];

/** An element at the beginning of a text. Tags of programs have a `-` or a `_` in their names; words of people stand in no such. */
const BLOCK = /^\s*<([a-z][a-z0-9]*(?:[-_][a-z0-9]+)+)(?:\s[^<>]*)?>/i;

/** A text without the elements that it begins with. */
const withoutBlocks = (text: string): string => {
  let rest = text;
  for (let blocks = 0; blocks < MOST_BLOCKS; blocks++) {
    const [open, tag] = BLOCK.exec(rest) ?? [];
    if (open === undefined) return rest;
    const end = rest.indexOf(`</${tag}>`, open.length);
    if (end < 0) return rest;
    rest = rest.slice(end + (tag ?? '').length + 3);
  }
  return rest;
};

const MOST_BLOCKS = 100;
