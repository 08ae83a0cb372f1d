import { isExactList, isExactObject, type ExactJson } from './exact-json.ts';

/** Replaces a secret. */
export const REDACTED = '***REDACTED***';

const VOLATILE = new Set(['seq', 'timestamp', 'timestamp_ms']);
const SECRET = new Set([
  'api_key',
  'authorization',
  'openai_api_key',
  'openrouter_api_key',
  'anthropic_api_key',
]);

/** True for keys of times or orders, in exact case: they are dropped before hashing. */
export const isVolatileKey = (key: string): boolean => VOLATILE.has(key);

/** True for keys whose value is always a secret, in any letter case. */
export const isSecretKey = (key: string): boolean => key.length <= 64 && SECRET.has(key.toLowerCase());

/** sanitise(v): without volatile keys and with secret values redacted, at any depth. */
export const sanitise = (value: ExactJson): ExactJson => {
  if (isExactList(value)) return value.map(sanitise);
  if (!isExactObject(value)) return value;
  const entries: [string, ExactJson][] = [];
  for (const key of Object.keys(value))
    if (!isVolatileKey(key))
      entries.push([key, isSecretKey(key) ? REDACTED : sanitise(value[key] as ExactJson)]);
  return Object.fromEntries(entries);
};
