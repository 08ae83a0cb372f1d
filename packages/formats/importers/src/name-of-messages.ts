import { isJsonObject, type WideJson } from '@stemma/canonical';
import { nameOfWords } from '@stemma/errors';
import { textOfContent } from '@stemma/model-apis';

/**
 * The first words of the first message of a user, as a name; undefined if there are none. One word alone could be the name that
 * somebody chose for another history: `chat-` stands before it.
 *
 * @param redact takes secrets out of a text, where the messages still have them
 */
export const nameOfMessages = (
  messages: readonly WideJson[],
  redact: (text: string) => string = (text) => text,
): string | undefined => {
  for (const message of messages) {
    if (!isJsonObject(message) || message['role'] !== 'user') continue;
    const words = nameOfWords(redact(textOfContent(message['content'])));
    if (words !== undefined) return words.includes('-') ? words : `chat-${words}`;
  }
  return undefined;
};
