import { isJsonObject, type WideJson } from './json-value.ts';

/** True if two values have the same canonical JSON. The texts of equal values are compared, and nothing is made of them. */
export const sameJson = (a: WideJson, b: WideJson): boolean => {
  if (a === b) return true;
  if (Array.isArray(a)) {
    const others = b as readonly WideJson[];
    return (
      Array.isArray(b) &&
      a.length === b.length &&
      a.every((item: WideJson, i) => sameJson(item, others[i] ?? null))
    );
  }
  if (!isJsonObject(a) || !isJsonObject(b)) return false;
  const names = Object.keys(a);
  return (
    names.length === Object.keys(b).length &&
    names.every((name) => Object.hasOwn(b, name) && sameJson(a[name] as WideJson, b[name] as WideJson))
  );
};
