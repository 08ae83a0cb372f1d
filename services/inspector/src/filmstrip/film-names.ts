/** Measures a text in pixels. */
export type MeasureText = (text: string) => number;

const initials = (name: string): string =>
  name
    .split(/[_\-. ]+/)
    .map((part) => part.slice(0, 1))
    .join('');

/**
 * The name of a tool in a column: whole, in two lines parted at a `_`, with its end cut, or by its initials where the
 * column is narrow.
 */
export const fittedName = (
  name: string,
  room: number,
  measure: MeasureText,
  wide: boolean,
): readonly string[] => {
  if (measure(name) <= room) return [name];
  if (!wide) return [name === 'answer' ? 'a' : initials(name)];
  const parts = name.split('_');
  const cuts = parts
    .slice(1)
    .map((_, i) => [`${parts.slice(0, i + 1).join('_')}_`, parts.slice(i + 1).join('_')] as const)
    .filter((cut) => cut.every((line) => measure(line) <= room))
    .sort((a, b) => unevenness(a, measure) - unevenness(b, measure));
  if (cuts[0] !== undefined) return cuts[0];
  let cut = name;
  while (cut.length > 3 && measure(`${cut}…`) > room) cut = cut.slice(0, -1);
  return [`${cut}…`];
};

const unevenness = ([a, b]: readonly [string, string], measure: MeasureText): number =>
  Math.abs(measure(a) - measure(b));
