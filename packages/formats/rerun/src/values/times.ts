/** A time that a text says. Without a zone it is the clock of the machine that wrote it. */
export type WrittenTime = {
  readonly kind: 'time' | 'date' | 'clock' | 'epoch';
  /** The possible readings, in milliseconds since 1970 as if in UTC; of a clock those since midnight. */
  readonly readings: readonly number[];
  readonly hasZone: boolean;
};

const MONTHS = ['jan', 'feb', 'mar', 'apr', 'may', 'jun', 'jul', 'aug', 'sep', 'oct', 'nov', 'dec'];
const DAY_NAME =
  '(?:(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun|Monday|Tuesday|Wednesday|Thursday|Friday|Saturday|Sunday),? )?';
const MONTH =
  '(?<mon>Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec|January|February|March|April|June|July|August|September|October|November|December)\\.?';
const CLOCK = '(?<h>\\d{1,2}):(?<m>\\d{2})(?::(?<s>\\d{2})(?:[.,](?<f>\\d{1,9}))?)?(?: ?(?<ap>[AaPp][Mm]))?';
const ZONE = ' ?(?<zone>Z|UTC|GMT|[+-]\\d{2}:?\\d{2})';
const DAY = '(?<d>\\d{1,2})(?:st|nd|rd|th)?';
const END = '(?![0-9A-Za-z])';

type Shape = { readonly kind: WrittenTime['kind']; readonly pattern: RegExp };

const shape = (kind: WrittenTime['kind'], pattern: string): Shape => ({
  kind,
  pattern: new RegExp(pattern + END, 'y'),
});

const STARTS_WITH_DIGIT: readonly Shape[] = [
  shape('time', `(?<y>\\d{4})-(?<mo>\\d{2})-(?<d>\\d{2})(?:[T ]| at )${CLOCK}(?:${ZONE})?`),
  shape(
    'time',
    `(?<y>\\d{4})(?<mo>\\d{2})(?<d>\\d{2})[T_-](?<h>\\d{2})(?<m>\\d{2})(?<s>\\d{2})(?:(?<zone>Z))?`,
  ),
  shape('time', `${DAY} ${MONTH},? (?<y>\\d{4})(?:,| at)? ${CLOCK}(?:${ZONE})?`),
  shape('time', `(?<p>\\d{1,2})/(?<q>\\d{1,2})/(?<y>\\d{4}),? ${CLOCK}`),
  shape('date', '(?<y>\\d{4})(?<sep>[-/.])(?<mo>\\d{2})\\k<sep>(?<d>\\d{2})'),
  shape('date', `${DAY} ${MONTH},? (?<y>\\d{4})`),
  shape('date', '(?<p>\\d{1,2})/(?<q>\\d{1,2})/(?<y>\\d{4})'),
  shape('clock', CLOCK),
  shape('epoch', '(?<n>\\d{10})(?:\\.(?<f>\\d{1,9}))?'),
  shape('epoch', '(?<n>\\d{13}|\\d{16}|\\d{19})'),
];

const STARTS_WITH_LETTER: readonly Shape[] = [
  shape('time', `${DAY_NAME}${MONTH} {1,2}${DAY} ${CLOCK} (?:(?<zone>UTC|GMT) )?(?<y>\\d{4})`),
  shape('time', `${DAY_NAME}${MONTH} ${DAY},? (?<y>\\d{4})(?:,| at)? ${CLOCK}(?:${ZONE})?`),
  shape('time', `${DAY_NAME}${DAY} ${MONTH} (?<y>\\d{4})(?:,| at)? ${CLOCK}(?:${ZONE})?`),
  shape('date', `${DAY_NAME}${MONTH} ${DAY},? (?<y>\\d{4})`),
  shape('date', `${DAY_NAME}${DAY} ${MONTH},? (?<y>\\d{4})`),
];

/** The time that begins at a place of a text, and where it ends. Every pattern is bounded: a place costs the same anywhere. */
export const timeAt = (
  text: string,
  at: number,
): { readonly end: number; readonly time: WrittenTime } | undefined => {
  const code = text.charCodeAt(at);
  const isDigit = code >= 48 && code <= 57;
  if (!isDigit && !NAME_START.has(text.slice(at, at + 3))) return undefined;
  for (const { kind, pattern } of isDigit ? STARTS_WITH_DIGIT : STARTS_WITH_LETTER) {
    pattern.lastIndex = at;
    const found = pattern.exec(text);
    if (found === null) continue;
    const readings = readingsOf(kind, found.groups as Groups);
    if (readings.length > 0)
      return {
        end: pattern.lastIndex,
        time: { kind, readings, hasZone: kind === 'epoch' || found.groups?.['zone'] !== undefined },
      };
  }
  return undefined;
};

const NAME_START: ReadonlySet<string> = new Set([
  ...['Mon', 'Tue', 'Wed', 'Thu', 'Fri', 'Sat', 'Sun'],
  ...MONTHS.map((name) => name.slice(0, 1).toUpperCase() + name.slice(1)),
]);

type Groups = Readonly<Record<string, string | undefined>>;

const readingsOf = (kind: WrittenTime['kind'], groups: Groups): readonly number[] => {
  if (kind === 'epoch') return [epochOf(groups)];
  const clock = kind === 'date' ? 0 : clockOf(groups);
  if (clock === null) return [];
  if (kind === 'clock') return [clock];
  const offset = zoneOf(groups['zone']);
  return daysOf(groups).map((day) => day + clock - offset);
};

const epochOf = ({ n = '', f }: Groups): number => {
  const number = Number(`${n}.${f ?? '0'}`);
  return number / 1_000 ** ((n.length - 13) / 3);
};

const clockOf = ({ h = '', m = '', s = '0', f = '0', ap }: Groups): number | null => {
  const [hours, minutes, seconds] = [Number(h), Number(m), Number(s)];
  if (hours > 23 || minutes > 59 || seconds > 60) return null;
  if (ap !== undefined && (hours < 1 || hours > 12)) return null;
  const hour = ap === undefined ? hours : (hours % 12) + (ap.toLowerCase() === 'pm' ? 12 : 0);
  return ((hour * 60 + minutes) * 60 + seconds) * 1_000 + Number(`0.${f}`) * 1_000;
};

const zoneOf = (zone: string | undefined): number => {
  if (zone === undefined || /^[A-Z]/.test(zone)) return 0;
  const digits = zone.replace(/[^0-9]/g, '');
  const minutes = Number(digits.slice(0, 2)) * 60 + Number(digits.slice(2));
  return (zone.startsWith('-') ? -minutes : minutes) * 60_000;
};

/** Midnight of the days that the date may be: of two numbers before a year, each is tried as the month. */
const daysOf = ({ y = '', mo, mon, d = '', p, q }: Groups): readonly number[] => {
  const year = Number(y);
  if (p !== undefined && q !== undefined)
    return [...dayOf(year, Number(p), Number(q)), ...(p === q ? [] : dayOf(year, Number(q), Number(p)))];
  const month = mon === undefined ? Number(mo) : MONTHS.indexOf(mon.slice(0, 3).toLowerCase()) + 1;
  return dayOf(year, month, Number(d));
};

const dayOf = (year: number, month: number, day: number): readonly number[] => {
  if (month < 1 || month > 12 || day < 1 || day > 31) return [];
  const time = Date.UTC(year, month - 1, day);
  return new Date(time).getUTCDate() === day ? [time] : [];
};

/** How far a time may be from the call that says it. */
const NEAR = 5 * 60_000;
const DAY_MS = 24 * 60 * 60_000;
const QUARTER = 15 * 60_000;
const [LEAST_OFFSET, MOST_OFFSET] = [-12 * 60 * 60_000, 14 * 60 * 60_000];

/**
 * Whether a time is that of a call, or its day. `offset`: how far the clock of the machine that wrote it must be before UTC,
 * if that became known only by this time.
 *
 * @param at when the call was made, in milliseconds
 * @param known the offset of the machine's clock, in milliseconds; null: not known
 */
export const isTimeOf = (
  { kind, readings, hasZone }: WrittenTime,
  at: number,
  known: number | null,
): { readonly isNear: boolean; readonly offset: number | null } => {
  const near = { isNear: true, offset: known };
  const offsets = hasZone || known === null || known === 0 ? [0] : [0, known];
  if (kind === 'clock') {
    const isNear = readings.some((time) =>
      offsets.some((offset) => {
        const apart = Math.abs(modulo(at + offset, DAY_MS) - time);
        return Math.min(apart, DAY_MS - apart) <= NEAR;
      }),
    );
    return { isNear, offset: known };
  }
  if (kind === 'date') {
    const isDay = (offset: number): boolean => readings.includes(at + offset - modulo(at + offset, DAY_MS));
    const tried = known === null ? [0, LEAST_OFFSET, MOST_OFFSET] : offsets;
    return { isNear: tried.some(isDay), offset: known };
  }
  if (readings.some((time) => offsets.some((offset) => Math.abs(time - offset - at) <= NEAR))) return near;
  if (hasZone || known !== null) return { isNear: false, offset: known };
  for (const time of readings) {
    const offset = Math.round((time - at) / QUARTER) * QUARTER;
    if (offset >= LEAST_OFFSET && offset <= MOST_OFFSET && Math.abs(time - offset - at) <= NEAR)
      return { isNear: true, offset };
  }
  return { isNear: false, offset: known };
};

const modulo = (value: number, by: number): number => ((value % by) + by) % by;
