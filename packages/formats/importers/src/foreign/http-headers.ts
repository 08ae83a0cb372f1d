import { isJsonObject, type WideJson } from '@stemma/canonical';
import { isList, listOf, textOf, type Field } from './fields.ts';

/** The first value of a header, whatever the case of its name; null: there is none. */
export type HeaderReader = (name: string) => string | null;

/** Headers as `{name: value}`, `{name: [value]}` or `[{name, value}]`. */
export const headerReader = (headers: Field): HeaderReader => {
  const known = new Map<string, string>();
  const add = (name: string, value: Field): void => {
    const text = isList(value) ? textOf(value[0]) : textOf(value);
    if (text !== undefined && !known.has(name.toLowerCase())) known.set(name.toLowerCase(), text);
  };
  if (isJsonObject(headers)) for (const [name, value] of Object.entries(headers)) add(name, value);
  for (const header of listOf(headers)) addListed(header, add);
  return (name) => known.get(name) ?? null;
};

const addListed = (header: WideJson, add: (name: string, value: Field) => void): void => {
  if (!isJsonObject(header)) return;
  const name = textOf(header['name']);
  if (name !== undefined) add(name, header['value']);
};
