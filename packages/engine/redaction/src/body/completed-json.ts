import { parseWideJson, type WideJson } from '@stemma/canonical';

/**
 * The value of a JSON text that the end of a body cuts off, as far as it goes; undefined if nobody can say. Of
 * `{"a":[1,"tw` it is `{a: [1, 'tw']}`.
 */
export const completedJson = (text: string): WideJson | undefined => {
  const open: string[] = [];
  let inText = false;
  for (let at = 0; at < text.length; at++) {
    const char = text[at] as string;
    if (inText) {
      if (char === '\\') at += text[at + 1] === 'u' ? 5 : 1;
      else if (char === '"') inText = false;
    } else if (char === '"') inText = true;
    else if (char === '{' || char === '[') open.push(char === '{' ? '}' : ']');
    else if ((char === '}' || char === ']') && open.pop() !== char) return undefined;
  }
  const closers = open.toReversed().join('');
  // An escape or a character that is cut in two says nothing.
  const said = inText ? `${text.replace(/\\(?:u[0-9a-fA-F]{0,3})?$/u, '')}"` : text;
  for (const tail of ['', ':null', 'null']) {
    const value =
      parsed(`${said}${tail}${closers}`) ?? parsed(`${said.replace(/[,\s]+$/u, '')}${tail}${closers}`);
    if (value !== undefined) return value;
  }
  return undefined;
};

const parsed = (text: string): WideJson | undefined => {
  try {
    return parseWideJson(text);
  } catch {
    return undefined;
  }
};
