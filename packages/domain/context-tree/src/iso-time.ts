import { millisecondsOf } from '@stemma/values';
const DAY = 86_400_000;
let day = Number.NaN;
let date = '';

const two = (value: number): string => (value < 10 ? `0${value}` : String(value));

/** `created_at_iso` of an instant: UTC, in milliseconds, truncated and not rounded (context-tree §10.8). */
export const isoTime = (nanoseconds: bigint): string => {
  if (nanoseconds === 0n) return '1970-01-01T00:00:00.000Z';
  const milliseconds = millisecondsOf(nanoseconds);
  const at = Math.floor(milliseconds / DAY);
  // Consecutive instants nearly always share a day, and formatting a date is slow.
  if (at !== day) {
    date = new Date(at * DAY).toISOString().slice(0, -14);
    day = at;
  }
  const rest = milliseconds - at * DAY;
  const seconds = Math.floor(rest / 1000);
  const thousandths = String(rest % 1000).padStart(3, '0');
  return `${date}T${two(Math.floor(seconds / 3600))}:${two(Math.floor(seconds / 60) % 60)}:${two(seconds % 60)}.${thousandths}Z`;
};

/** Where no time is known, an import counts nanoseconds from 0: instants before this say nothing of when something was. */
const FIRST_KNOWN = 86_400_000_000_000n;

/** The same for people; null where no time is known. */
export const knownTime = (nanoseconds: bigint): string | null =>
  nanoseconds < FIRST_KNOWN ? null : isoTime(nanoseconds);
