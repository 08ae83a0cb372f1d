import { isJsonObject, parseWideJson, type WideJson } from '@stemma/canonical';
import { isStemmaError } from '@stemma/errors';

/** Arguments as an object; a text that is none stays one. */
export const argumentsOf = (text: string): WideJson => {
  try {
    const value = parseWideJson(text, 'the arguments');
    return isJsonObject(value) ? value : text;
  } catch (error) {
    if (isStemmaError(error)) return text;
    throw error;
  }
};
