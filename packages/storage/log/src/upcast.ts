import type { Packable } from '@stemma/canonical';
import { fail } from '@stemma/errors';
import { FRAME_VERSION } from '@stemma/events';

/** One recorded event as decoded, in the version that wrote it. */
export type RawEvent = { readonly [key: string]: Packable };

/** Turns the events of a frame of one version into those of the next. Pure. */
export type Upcaster = (events: readonly RawEvent[]) => readonly RawEvent[];

/** From a version to the step to the next version. Every version but the newest has one. */
export type Upcasters = ReadonlyMap<number, Upcaster>;

/** What the events of calls got in version 2: nobody knows it of earlier ones. */
const OF_VERSION_2: ReadonlyMap<unknown, RawEvent> = new Map<unknown, RawEvent>([
  ['CallStarted', { sent: null }],
  ['CallFinished', { choices: null, sentAt: null, head: null }],
]);

/** A new version adds its step here, and frames of the new one to `corpus/`. */
const UPCASTERS: Upcasters = new Map<number, Upcaster>([
  [1, (events) => events.map((event) => withFields(event, OF_VERSION_2.get(event['type']) ?? {}))],
]);

/** @throws E_FRAME_INVALID if the event has one of them: readers of its version refuse it, so all do */
const withFields = (event: RawEvent, fields: RawEvent): RawEvent => {
  const early = Object.keys(fields).find((name) => Object.hasOwn(event, name));
  if (early !== undefined) throw fail('E_FRAME_INVALID', `an event has a field of a later version: ${early}`);
  return { ...event, ...fields };
};

/** The events in the newest version, after one step for each version between. */
export const upcast = (
  v: number,
  events: readonly RawEvent[],
  newest: number = FRAME_VERSION,
  steps: Upcasters = UPCASTERS,
): readonly RawEvent[] => {
  let current = events;
  for (let version = v; version < newest; version++) {
    const step = steps.get(version);
    if (!step) throw new Error(`there is no step from version ${version} to ${version + 1}`);
    current = step(current);
  }
  return current;
};
