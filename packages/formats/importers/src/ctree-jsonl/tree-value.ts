import { isForbiddenKey, type WideJson } from '@stemma/canonical';
import { NumberText, printPlain, type ExactJson, type ExactObject } from '@stemma/stages';

/** A value that a tree can hold, and whether it is exact or only the nearest one. */
export type TreeValue = { readonly value: WideJson; readonly exact: boolean };

/** Values in trees may be nested 300 deep; deeper values are kept as their text. */
const MAX_LEVELS = 250;

/**
 * The value nearest to an exact one that a tree can hold: floats such as `1.0` as numbers, integers beyond ±(2^53−1) as
 * their digits, lone surrogates as U+FFFD, objects without forbidden keys, values nested too deep as their JSON text.
 */
export const treeValue = (value: ExactJson): TreeValue => {
  const loss: Loss = { some: false };
  const kept = keep(value, 0, loss);
  return { value: kept, exact: !loss.some };
};

type Loss = { some: boolean };

const keep = (value: ExactJson, depth: number, loss: Loss): WideJson => {
  if (typeof value === 'string') return wellFormed(value, loss);
  if (typeof value !== 'object' || value === null)
    return typeof value === 'bigint' ? lost(String(value), loss) : value;
  if (value instanceof NumberText) return lost(value.float ? positive(Number(value.text)) : value.text, loss);
  if (depth >= MAX_LEVELS) return lost(printPlain(value), loss);
  if (Array.isArray(value)) return (value as readonly ExactJson[]).map((item) => keep(item, depth + 1, loss));
  const entries: [string, WideJson][] = [];
  for (const [key, item] of Object.entries(value as ExactObject)) {
    if (isForbiddenKey(key)) loss.some = true;
    else entries.push([wellFormed(key, loss), keep(item, depth + 1, loss)]);
  }
  return Object.fromEntries(entries);
};

const wellFormed = (text: string, loss: Loss): string =>
  text.isWellFormed() ? text : lost(text.toWellFormed(), loss);

const lost = <T>(nearest: T, loss: Loss): T => {
  loss.some = true;
  return nearest;
};

const positive = (value: number): number => (value === 0 ? 0 : value);
