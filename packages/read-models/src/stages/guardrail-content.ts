import { isJsonObject, type WideJson, type WideJsonObject } from '@stemma/canonical';

/** Keys of interventions that name lineages, positions or nodes (pool: Interventions). */
const NAMES_SOMETHING: ReadonlySet<string> = new Set([
  'abandoned',
  'at',
  'command',
  'forked_to',
  'id',
  'ids',
  'lineage',
  'parent',
  'refs',
  'seq',
  'strand',
  'time',
  'timestamp',
]);
const ID_OR_TIME = /(?:_ids?|_at|_ns|_ms|_iso|_time|Id|Ids|At)$/;

/**
 * What an intervention says, without what names things by generated ids or tells times, at any depth: equal acts give
 * equal nodes, whenever and wherever they were done (compiler-stages: node stream).
 */
export const guardrailContent = (intervention: string, content: WideJsonObject): WideJsonObject => {
  if (intervention !== 'rollback') return withoutIdsAndTimes(content);
  // The position that it goes back to; in a changed configuration `to` is a value.
  const { to: _position, ...rest } = content;
  return withoutIdsAndTimes(rest);
};

const withoutIdsAndTimes = (object: WideJsonObject): WideJsonObject => {
  const kept: Record<string, WideJson> = {};
  for (const [key, value] of Object.entries(object))
    if (!NAMES_SOMETHING.has(key) && !ID_OR_TIME.test(key)) kept[key] = inner(value);
  return kept;
};

const inner = (value: WideJson): WideJson => {
  if (Array.isArray(value)) return (value as readonly WideJson[]).map(inner);
  return isJsonObject(value) ? withoutIdsAndTimes(value) : value;
};
