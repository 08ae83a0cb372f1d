import { fail } from '@stemma/errors';
import { ControlEvent, HistoryEvent, SealedEvent, type StemmaEvent } from '@stemma/events';
import { shapedEvent } from './shaped-event.ts';
import type { RawEvent } from './upcast.ts';

type Issue = { readonly path: readonly PropertyKey[]; readonly message: string };
type Schema = {
  safeParse(
    value: unknown,
  ): { success: true; data: StemmaEvent } | { success: false; error: { issues: readonly Issue[] } };
};

export const SCHEMAS: ReadonlyMap<string, Schema> = new Map(
  [...HistoryEvent.options, ...ControlEvent.options, SealedEvent].map((schema) => [
    schema.shape.type.value,
    schema,
  ]),
);

/** The names of all events that this version knows. */
export const EVENT_TYPES: readonly string[] = [...SCHEMAS.keys()];

/** How many byte strings (hashes) an event holds. Any other byte string is a defect, because JSON has none. */
const BINARIES: ReadonlyMap<string, number> = new Map([
  ['SnapshotCommitted', 2],
  ['SnapshotImported', 2],
]);

/**
 * The events as their schemas return them.
 *
 * @param writing true if this version made the events, so that an unknown type is its own fault.
 * @param binaries how many byte strings the events hold; not compared when absent.
 * @throws E_VERSION_NEEDED for a type that this version does not know, E_FRAME_INVALID for a wrong shape.
 */
export const checkEvents = (
  events: readonly RawEvent[],
  writing: boolean,
  binaries?: number,
): readonly StemmaEvent[] => {
  const checked = events.map((event) => {
    const type = typeof event['type'] === 'string' ? event['type'] : '';
    const schema = SCHEMAS.get(type);
    if (!schema) throw unknown(type, writing);
    const shaped = shapedEvent(type, event);
    if (shaped !== undefined) return shaped;
    const result = schema.safeParse(event);
    if (result.success) return result.data;
    const [issue] = result.error.issues;
    throw fail('E_FRAME_INVALID', `${type} does not have its shape: ${where(issue)}`);
  });
  if (binaries !== undefined && binaries !== binariesIn(checked))
    throw fail(
      'E_FRAME_INVALID',
      `the events hold ${binaries} byte strings instead of ${binariesIn(checked)}`,
    );
  return checked;
};

/** How many byte strings checked events hold. */
export const binariesIn = (events: readonly StemmaEvent[]): number => {
  let binaries = 0;
  for (const { type } of events) binaries += BINARIES.get(type) ?? 0;
  return binaries;
};

const where = (issue: Issue | undefined): string =>
  issue ? `${issue.path.map(String).join('.') || 'it'}: ${issue.message}` : 'unknown';

const unknown = (type: string, writing: boolean): Error => {
  if (writing || type === '') return fail('E_FRAME_INVALID', 'an event has no known type');
  return fail('E_VERSION_NEEDED', `the log has an event ${type}, which this version does not know`, {
    type,
  });
};
