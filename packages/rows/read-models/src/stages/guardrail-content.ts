import { isJsonObject, type WideJson, type WideJsonObject } from '@stemma/canonical';
import { interventionIn, type AppliedFrame } from '@stemma/history';

/** Keys of interventions that name branches, positions or nodes (pool: Interventions). */
const NAMES_SOMETHING: ReadonlySet<string> = new Set([
  'abandoned',
  'at',
  'command',
  'forked_to',
  'id',
  'ids',
  'branch',
  'node',
  'parent',
  'position',
  'refs',
  'seq',
  'since',
  'branchId',
  'time',
  'timestamp',
]);
const ID_OR_TIME = /(?:_ids?|_at|_ns|_ms|_iso|_time|Id|Ids|At)$/;

/**
 * The content of the intervention that a frame records, completed from the frame's other events (pool: Interventions), without what
 * names things by generated ids or tells times, at any depth: equal acts give equal nodes, whenever and wherever they
 * were done, and acts with different content give different nodes (compiler-stages: node stream).
 */
export const guardrailContent = (events: AppliedFrame['events']): WideJsonObject => {
  // Place and author are not content; parts that depend on them are left out below.
  const facts = interventionIn({ history: '', seq: 0, branchId: 0, author: { actor: '' }, events });
  const content = facts?.content ?? {};
  // Users choose the names of settings.
  if (facts?.type === 'config_change') return content;
  if (facts?.type !== 'rollback') return withoutIdsAndTimes(content);
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
