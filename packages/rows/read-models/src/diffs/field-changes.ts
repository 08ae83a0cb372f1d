import { canonicalJson, type WideJson } from '@stemma/canonical';
import { contentHash, type EventRef, type PayloadSource } from '@stemma/context-tree';
import type { TimelineEntry } from './timeline.ts';

/**
 * The moments of a timeline that gave a field another value than it had before their frame. Of several in one frame
 * the last that set it, none if it is what it was: so of two consecutive positions every difference has one
 * (context-tree §3).
 *
 * @throws Missing (payloads) for fields that depend on content
 */
export const entriesChangingField = (
  timeline: readonly TimelineEntry[],
  field: string,
  source: PayloadSource,
): readonly TimelineEntry[] => {
  if (field === 'ttl') return timeline.filter(({ cause }) => cause.kind === 'ageing');
  const setting = timeline.filter((entry) => setsField(entry, field));
  const found: TimelineEntry[] = [];
  let before: string | undefined;
  for (let i = 0; i < setting.length; i++) {
    const entry = setting[i] as TimelineEntry;
    if (setting[i + 1]?.seq === entry.seq) continue;
    const value = valueAt(entry, field, source);
    if (before !== undefined && value !== before) found.push(entry);
    before = value;
  }
  return found;
};

/** True for a moment that sets the field, the first time included. */
const setsField = ({ explains }: TimelineEntry, field: string): boolean =>
  explains !== 'removed' && (explains === 'added' || explains.includes(field));

const valueAt = (entry: TimelineEntry, field: string, source: PayloadSource): string => {
  if (field === 'parent') return canonicalJson(entry.parent ?? null);
  if (field === 'priority') return canonicalJson(entry.priority ?? 0);
  const payload = source(payloadOf(entry));
  if (field === 'content_hash') return contentHash({}, payload);
  const value: WideJson | undefined = payload[field];
  return value === undefined ? '' : canonicalJson(value);
};

/** True if the event contains the payload of the node. */
const payloadOf = ({ seq, index }: TimelineEntry): EventRef => ({ seq, index });
