import type { Packable } from '@stemma/canonical';
import { FRAME_VERSION } from '@stemma/events';

/** One recorded event as decoded, in the version that wrote it. */
export type RawEvent = { readonly [key: string]: Packable };

/** Turns the events of a frame of one version into those of the next. Pure. */
export type Upcaster = (events: readonly RawEvent[]) => readonly RawEvent[];

/** From a version to the step to the next version. Every version but the newest has one. */
export type Upcasters = ReadonlyMap<number, Upcaster>;

/** Empty: version 1 is the first. A new version adds its step here, and frames of the old one to `corpus/`. */
const UPCASTERS: Upcasters = new Map();

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
