import { canonicalJson, isJsonObject, type WideJson } from '@stemma/canonical';

/** The JSON text of a value with the keys of each object in their own order, without white space; exact for integers. */
export const jsonText = (value: WideJson): string => {
  if (typeof value === 'string') return JSON.stringify(value);
  if (Array.isArray(value)) return `[${(value as readonly WideJson[]).map(jsonText).join(',')}]`;
  if (!isJsonObject(value)) return canonicalJson(value);
  const fields = Object.entries(value).map(([key, item]) => `${JSON.stringify(key)}:${jsonText(item)}`);
  return `{${fields.join(',')}}`;
};
