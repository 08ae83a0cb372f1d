import { toHex } from '@stemma/canonical';
import type { HistoryEvent } from '@stemma/events';
import type { Message } from '@stemma/log-kafka';

const asJson = (value: unknown): unknown => {
  if (typeof value === 'bigint') return String(value);
  if (value instanceof Uint8Array) return toHex(value);
  if (Array.isArray(value)) return value.map(asJson);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, field]) => [key, asJson(field)]));
};

/** Our event as emmett takes one: the same fields, as JSON. */
export const asMessage = ({ type, ...fields }: HistoryEvent): Message => ({ type, data: asJson(fields) });
