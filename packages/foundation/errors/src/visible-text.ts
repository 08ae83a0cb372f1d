/**
 * Characters that one does not see, or that change how others are shown: controls except tab and line feed, directions,
 * zero widths, fillers, line separators, tags, halves of surrogate pairs.
 */
export const HIDDEN_CHARACTERS =
  /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u2028-\u202e\u2060-\u206f\u3164\ud800-\udfff\ufeff\uffa0\ufff0-\ufffb\u{1bca0}-\u{1bca3}\u{1d173}-\u{1d17a}\u{e0000}-\u{e0fff}]/gu;

/**
 * A text from outside as a terminal or page may show it: each hidden character as its escape, `\u202e`.
 *
 * JSON keeps its value, since there the escapes mean the same characters: they stand only within its texts.
 */
export const visibleText = (text: string): string => text.replace(HIDDEN_CHARACTERS, escaped);

const escaped = (character: string): string => {
  let text = '';
  for (let i = 0; i < character.length; i++)
    text += '\\u' + character.charCodeAt(i).toString(16).padStart(4, '0');
  return text;
};
