const FIELD = /^(-?[a-z]+:)(.+)$/su;

/**
 * A word of a search as it was typed: the shell has taken the quotation marks of `"a phrase"` and `tool:"a name"`. Filters that stand
 * in one argument stay as they are: `'tool:refund failed:true'`.
 */
export const asTyped = (word: string): string => {
  if (!/\s/u.test(word) || word.includes('"') || /\s-?[a-z]+:\S/u.test(word)) return word;
  const [, field, value] = FIELD.exec(word) ?? [];
  if (field !== undefined) return `${field}"${value}"`;
  return word.startsWith('-') ? `-"${word.slice(1)}"` : `"${word}"`;
};
