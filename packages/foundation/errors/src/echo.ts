/** So many characters of an input, at the most, stand in an error. */
export const MAX_ECHO = 200;

/** So many characters has a whole sentence, at the most: what stands there without quotes may be an input too. */
const MAX_SENTENCE = 600;

/** The beginning of an input, as an error may repeat it. No character is cut in two. */
export const echo = (input: string, most = MAX_ECHO): string => {
  if (input.length <= most) return input;
  const kept = input.slice(0, most - 1);
  return (/[\ud800-\udbff]$/.test(kept) ? kept.slice(0, -1) : kept) + '…';
};

/**
 * A sentence in which no input is repeated at length: what stands between quotes, and every word, is cut at
 * {@link MAX_ECHO} characters.
 */
export const boundedSentence = (sentence: string): string => {
  if (sentence.length <= MAX_ECHO) return sentence;
  let text = '';
  for (let at = 0; at < sentence.length && text.length <= MAX_SENTENCE;) {
    const end = sentence[at] === '"' ? endOfQuoted(sentence, at) : endOfWord(sentence, at);
    const quoted = sentence[at] === '"' && sentence[end - 1] === '"' && end - at > MAX_ECHO;
    text += echo(sentence.slice(at, end), quoted ? MAX_ECHO - 1 : MAX_ECHO) + (quoted ? '"' : '');
    at = end;
  }
  return echo(text, MAX_SENTENCE);
};

/** The index behind a quoted part as JSON writes it, or behind the sentence. */
const endOfQuoted = (sentence: string, from: number): number => {
  for (let at = from + 1; at < sentence.length; at++) {
    if (sentence[at] === '\\') at++;
    else if (sentence[at] === '"') return at + 1;
  }
  return sentence.length;
};

/** The index behind a word, or behind the one blank that stands at `from`. */
const endOfWord = (sentence: string, from: number): number => {
  for (let at = from + 1; at < sentence.length; at++)
    if (sentence[from] === ' ' || sentence[at] === ' ' || sentence[at] === '"') return at;
  return sentence.length;
};
