import { isJsonObject, type WideJson, type WideJsonObject } from './json-value.ts';

/** The object; one without fields for anything else. */
export const objectOf = (value: WideJson | undefined): WideJsonObject => (isJsonObject(value) ? value : {});

/** The items of a list; none for anything else. */
export const listOf = (value: WideJson | undefined): readonly WideJson[] =>
  Array.isArray(value) ? (value as readonly WideJson[]) : [];

/** The text; undefined for anything else. */
export const textOf = (value: WideJson | undefined): string | undefined =>
  typeof value === 'string' ? value : undefined;
