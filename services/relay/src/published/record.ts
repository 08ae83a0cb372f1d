import { toWireJson } from '@stemma/api';
import { pack, sha256Hex, toHex, type Packable } from '@stemma/canonical';
import { type Frame, type HistoryEvent, versionOfEvent } from '@stemma/events';
import { millisecondsOf } from '@stemma/values';
import { contentsOf, MAX_INLINE_BYTES, referenceTo, withoutContents, type Reference } from './large.ts';

/** The most bytes of a record's value: with key and headers, a broker with default settings accepts it. */
export const MAX_RECORD_BYTES = 900 * 1024;

/** An accepted event as the relay publishes it: `value` is JSON (docs/events.md). */
export type RelayedRecord = {
  /** The id of the history. */
  readonly key: string;
  readonly value: string;
  readonly headers: Readonly<Record<string, string>>;
};

/**
 * The records of an accepted frame, one per event, in order. They depend on the frame alone, so the same frame always
 * gives the same bytes, whoever publishes it.
 *
 * @param frame with its contents in place
 * @param hash SHA-256 of the frame's bytes (32 bytes)
 * @param log the id of the log
 */
export const relayedRecords = (frame: Frame, hash: Uint8Array, log: string): readonly RelayedRecord[] => {
  const { history, seq } = frame.envelope;
  const { events } = frame.body;
  const frameHash = toHex(hash);
  return events.map((event, index) => ({
    key: history,
    value: valueOf(frame, event, index),
    headers: {
      type: event.type,
      version: String(versionOfEvent(event.type)),
      log,
      history,
      seq: String(seq),
      index: String(index),
      count: String(events.length),
      frame: frameHash,
      'content-type': 'application/json',
    },
  }));
};

/** A packed value has at most this many times the bytes of its JSON: a short fraction takes nine bytes. */
const PACKED = 5;

const valueOf = ({ envelope, body }: Frame, event: HistoryEvent, index: number): string => {
  const { history, seq } = envelope;
  const { branchId, command, at, events } = body;
  const write = (given: unknown, contents: readonly Reference[] = []): string =>
    toWireJson({
      type: event.type,
      version: versionOfEvent(event.type),
      history,
      seq,
      index,
      count: events.length,
      branchId,
      command,
      at: millisecondsOf(at),
      author: 'actor' in body ? { actor: body.actor } : { recorder: body.recorder },
      event: given,
      ...(contents.length > 0 && { contents: contents.map(referenceTo) }),
    });
  const whole = write(event);
  if (whole.length <= MAX_INLINE_BYTES / PACKED) return whole;
  const contents = contentsOf(event);
  const due = contents.filter(({ size }) => size > MAX_INLINE_BYTES).length;
  for (let count = due; count <= contents.length; count++) {
    const moved = contents.slice(0, count);
    const text = count === 0 ? whole : write(withoutContents(event, moved), moved);
    if (fits(text)) return text;
  }
  const bytes = pack(event as unknown as Packable);
  return write(null, [{ at: '/event', sha256: sha256Hex(bytes), size: bytes.length }]);
};

const fits = (text: string): boolean =>
  text.length <= MAX_RECORD_BYTES / 3 || Buffer.byteLength(text) <= MAX_RECORD_BYTES;
