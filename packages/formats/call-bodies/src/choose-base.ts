import type { EventRef } from '@stemma/context-tree';
import type { RecordedBody } from '@stemma/events';
import type { BaseBody, FrameBytes } from './encode-body.ts';
import { damaged, readBody, type BodySource, type StoredBody } from './read-body.ts';
import { bodySource, type FrameSource } from './stored-body.ts';

/**
 * Of as many bodies one copies from the one so many before it: the 8th from the first, the 64th too, so that each is read over at
 * most seven of each size. What the bodies between brought is found in the bytes of their frames, so nothing is stored twice.
 */
const STEP = 8;

/** More bytes of frames are not looked through. */
const MAX_DICTIONARY = 4 * 1024 * 1024;

/**
 * The body that the next one copies from, if this one is the newest.
 *
 * @param known bodies that the caller has at hand
 * @throws E_CALL_NOT_FOUND, E_CALL_BODY_DAMAGED, what the source throws
 */
export const chooseBase = async (
  newest: EventRef,
  frames: FrameSource,
  known: NonNullable<BodySource['known']> = () => undefined,
): Promise<BaseBody> => {
  const source = { ...bodySource(frames), known };
  const stored = await source.body(newest);
  const next = ordinalOf(stored.body) + 1;
  for (let span = spanOf(next); ; span /= STEP) {
    const found = await ancestorAt(newest, stored, next - span, source);
    const since = await dictionaryOf(found.between, source);
    if (since === undefined && span > 1) continue;
    const bytes = known(found.location) ?? (await readBody(found.stored, source));
    const base = { location: found.location, bytes, ordinal: next - span };
    return since === undefined || since.seqs.length === 0 ? base : { ...base, since };
  }
};

/** How many bodies stand before one. */
const ordinalOf = ({ base }: RecordedBody): number =>
  base === null ? 0 : base.ordinal + 1 + base.frames.length;

/** The largest power of the step that divides the number. */
const spanOf = (ordinal: number): number => {
  let span = 1;
  while (ordinal % (span * STEP) === 0) span *= STEP;
  return span;
};

type Ancestor = {
  readonly location: EventRef;
  readonly stored: StoredBody;
  /** The frames of the bodies between, in order. */
  readonly between: readonly number[];
};

const ancestorAt = async (
  newest: EventRef,
  body: StoredBody,
  ordinal: number,
  source: BodySource,
): Promise<Ancestor> => {
  const between: number[] = [];
  let [location, stored] = [newest, body];
  for (
    let { base } = stored.body;
    base !== null && ordinalOf(stored.body) > ordinal;
    { base } = stored.body
  ) {
    if (base.seq >= location.seq) throw damaged(stored.body);
    between.unshift(...base.frames, location.seq);
    location = { seq: base.seq, index: base.index };
    stored = await source.body(location);
  }
  return { location, stored, between };
};

const dictionaryOf = async (seqs: readonly number[], source: BodySource): Promise<FrameBytes | undefined> => {
  if (seqs.length === 0) return { seqs, bytes: new Uint8Array() };
  const bytes = Buffer.concat(await source.frames(seqs));
  return bytes.length > MAX_DICTIONARY ? undefined : { seqs, bytes };
};
