import { fail } from '@stemma/errors';

/** The place of one live stream. */
export type StreamPlace = {
  /** Aborts, with the error that the client is told, when the place is given to another. */
  readonly signal: AbortSignal;
  /** Gives the place back; again does nothing. */
  readonly release: () => void;
};

/**
 * Gives away a limited number of places. When all are taken, the stream that has lasted longest ends for a new one, if
 * it has had its turn: its client resumes after its last id, and loses nothing. So nobody who holds all of them keeps
 * the others out, and a flood of new ones does not end streams as fast as they begin.
 *
 * @param turn milliseconds that a stream keeps its place whoever asks.
 */
export const openStreamPlaces = (places: number, turn: number): (() => StreamPlace) => {
  /** Oldest first: a set keeps its order. */
  const taken = new Set<{ readonly since: number; readonly end: AbortController }>();
  return () => {
    if (taken.size >= places) {
      const [oldest] = taken;
      if (oldest === undefined || performance.now() - oldest.since < turn)
        throw fail('E_BUSY', `there are ${taken.size} live streams already`, { streams: taken.size });
      taken.delete(oldest);
      oldest.end.abort(fail('E_BUSY', 'the place of this stream went to another client'));
    }
    const place = { since: performance.now(), end: new AbortController() };
    taken.add(place);
    return { signal: place.end.signal, release: () => taken.delete(place) };
  };
};
