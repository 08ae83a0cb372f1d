import { canonicalJson, type WideJson } from '@stemma/canonical';
import { contentHash, type EventRef, type PayloadSource } from '@stemma/context-tree';
import type { Moment } from './timeline.ts';

/**
 * The moments of a timeline that gave a field another value than it had before their frame. Of several in one frame the
 * last that set it, none if it is what it was: so of two consecutive positions every difference has one (context-tree §3).
 *
 * @throws Missing (payloads) for what is told by content
 */
export const effectsOn = (
  timeline: readonly Moment[],
  field: string,
  source: PayloadSource,
): readonly Moment[] => {
  if (field === 'ttl') return timeline.filter(({ cause }) => cause.kind === 'ageing');
  const set = timeline.filter((moment) => sets(moment, field));
  const effects: Moment[] = [];
  let before: string | undefined;
  for (let i = 0; i < set.length; i++) {
    const moment = set[i] as Moment;
    if (set[i + 1]?.seq === moment.seq) continue;
    const value = valueAt(moment, field, source);
    if (before !== undefined && value !== before) effects.push(moment);
    before = value;
  }
  return effects;
};

/** True for what gives the field a value, the first time too. */
const sets = ({ explains }: Moment, field: string): boolean =>
  explains !== 'removed' && (explains === 'added' || explains.includes(field));

const valueAt = (moment: Moment, field: string, source: PayloadSource): string => {
  if (field === 'parent') return canonicalJson(moment.parent ?? null);
  if (field === 'priority') return canonicalJson(moment.priority ?? 0);
  const payload = source(payloadOf(moment));
  if (field === 'content_hash') return contentHash({}, payload);
  const value: WideJson | undefined = payload[field];
  return value === undefined ? '' : canonicalJson(value);
};

/** The event holds the payload that it gave the node. */
const payloadOf = ({ seq, index }: Moment): EventRef => ({ seq, index });
