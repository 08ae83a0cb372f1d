import { fail } from '@stemma/errors';

/** The slot of one live stream. */
export type StreamSlot = {
  /** Aborts, with the error that the client is told, when the slot is given to another. */
  readonly signal: AbortSignal;
  /** Frees the slot; again does nothing. */
  readonly release: () => void;
};

/**
 * Gives away a limited number of slots. When all are taken, the stream that has lasted longest ends for a new one, if
 * it has had its turn: its client resumes after its last id, and loses nothing. So nobody who holds all of them keeps
 * the others out, and a flood of new ones does not end streams as fast as they begin.
 *
 * @param onTurn is told of each stream that ends for another.
 * @param turn milliseconds that a stream keeps its slot whoever asks.
 */
export const openStreamSlots = (
  slots: number,
  turn: number,
  onTurn: () => void = () => undefined,
): (() => StreamSlot) => {
  /** Oldest first: a set keeps its order. */
  const taken = new Set<{ readonly since: number; readonly end: AbortController }>();
  return () => {
    if (taken.size >= slots) {
      const [oldest] = taken;
      if (oldest === undefined || performance.now() - oldest.since < turn)
        throw fail('E_BUSY', `there are ${taken.size} live streams already`, { streams: taken.size });
      taken.delete(oldest);
      onTurn();
      oldest.end.abort(fail('E_BUSY', 'this stream ended to let another client in'));
    }
    const slot = { since: performance.now(), end: new AbortController() };
    taken.add(slot);
    return { signal: slot.end.signal, release: () => taken.delete(slot) };
  };
};
