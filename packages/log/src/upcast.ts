import type { Packable } from '@stemma/canonical';
import { FRAME_VERSION } from '@stemma/events';

/** One recorded event as it was decoded, of the version it was written in. */
export type RawEvent = { readonly [key: string]: Packable };

/** Turns the events of a frame of one version into those of the next. Pure. */
export type Upcaster = (events: readonly RawEvent[]) => readonly RawEvent[];

/** From version → the step to the version behind it. There is one for every version but the newest. */
export type Upcasters = ReadonlyMap<number, Upcaster>;

/** Empty: version 1 is the first. A new version adds its step here, and frames of the old one to `corpus/`. */
const UPCASTERS: Upcasters = new Map();

/** The events as the newest version would have recorded them, by one step after the other. */
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
