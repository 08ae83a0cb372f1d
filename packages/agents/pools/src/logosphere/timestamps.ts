import { fail } from '@stemma/errors';
import { millisecondsOf, nanosecondsOf } from '@stemma/values';

const FORM = /^(\d{4}-\d\d-\d\d)[T ](\d\d:\d\d:\d\d)(?:\.(\d{1,9}))?\d*(Z|[+-]\d\d:?\d\d)?$/;
const BILLION = 1_000_000_000n;

/** Nanoseconds since 1970 of a time as text, in UTC unless it says otherwise, or of seconds. @throws E_INPUT_SHAPE */
export const instantOf = (given: string | number, where: string): bigint => {
  const refuse = (): Error =>
    fail('E_INPUT_SHAPE', `${where}: ${JSON.stringify(given)} is no time, such as 2026-11-25T12:30:42.5Z`);
  if (typeof given === 'number') {
    if (!(given >= 0 && given < 253_402_300_800)) throw refuse();
    return BigInt(Math.round(given * 1_000_000)) * 1_000n;
  }
  const [, date, clock, fraction = '', zone = 'Z'] = FORM.exec(given) ?? [];
  if (date === undefined || clock === undefined) throw refuse();
  const offset = zone === 'Z' ? 'Z' : `${zone.slice(0, 3)}:${zone.slice(-2)}`;
  const milliseconds = Date.parse(`${date}T${clock}${offset}`);
  if (!Number.isFinite(milliseconds) || milliseconds < 0) throw refuse();
  return nanosecondsOf(milliseconds) + BigInt(fraction.padEnd(9, '0'));
};

/** A time as Logosphere writes it, with microseconds and an offset; one with nanoseconds as it is. */
export const sessionTimeOf = (nanoseconds: bigint): string =>
  nanoseconds % 1_000n === 0n
    ? timestampOf(nanoseconds).replace(/\d{3}Z$/, '+00:00')
    : timestampOf(nanoseconds);

/** A time as text with all its nanoseconds, in UTC. */
const timestampOf = (nanoseconds: bigint): string => {
  const seconds = new Date(millisecondsOf(nanoseconds)).toISOString().slice(0, 19);
  return `${seconds}.${String(nanoseconds % BILLION).padStart(9, '0')}Z`;
};
