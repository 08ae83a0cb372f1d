import { isJsonObject, type WideJson } from '@stemma/canonical';

/** A text of an event, and what sets it. */
export type Fragment = {
  readonly event: number;
  readonly text: string;
  readonly set: (text: string) => void;
};

/** Fields that tell events of one kind from those of another, and say which part of an answer they go on with. */
const KIND = ['type', 'index', 'output_index', 'content_index', 'summary_index', 'item_id'] as const;

/** Fields that each event repeats and none goes on with. */
const REPEATED: ReadonlySet<string> = new Set(['id', 'type', 'name', 'role', 'model', 'object', 'item_id']);

/**
 * The texts of events that go on from event to event: those of one place of one part of an answer belong together, whatever the
 * API. A text that each event only repeats is left out.
 */
export const textsOverEvents = (
  events: readonly (WideJson | undefined)[],
): readonly (readonly Fragment[])[] => {
  const found = new Map<string, Fragment[]>();
  for (const [event, value] of events.entries()) {
    if (value === undefined) continue;
    const kind = isJsonObject(value) ? KIND.map((name) => plainOf(value[name])) : [];
    collect(value, JSON.stringify(kind), (place, text, set) => {
      const known = found.get(place);
      if (known === undefined) found.set(place, [{ event, text, set }]);
      else known.push({ event, text, set });
    });
  }
  return [...found].filter(([place, list]) => !isRepetition(place, list)).map(([, list]) => list);
};

const plainOf = (value: WideJson | undefined): string | number | null =>
  typeof value === 'string' || typeof value === 'number' ? value : null;

const isRepetition = (place: string, [first, ...rest]: readonly Fragment[]): boolean =>
  REPEATED.has(place.slice(place.lastIndexOf('/') + 1)) && rest.every(({ text }) => text === first?.text);

type Found = (place: string, text: string, set: (text: string) => void) => void;

const collect = (value: WideJson, place: string, found: Found): void => {
  if (Array.isArray(value)) collectList(value as WideJson[], place, found);
  else if (isJsonObject(value))
    for (const [name, item] of Object.entries(value))
      visit(item, `${place}/${name}`, found, (text) => {
        Object.assign(value, { [name]: text });
      });
};

/** Items with an `index` are told by it; others go on with those before them. */
const collectList = (list: WideJson[], place: string, found: Found): void => {
  for (const [at, item] of list.entries()) {
    const index = isJsonObject(item) ? plainOf(item['index']) : null;
    visit(item, `${place}/${index ?? '*'}`, found, (text) => {
      list[at] = text;
    });
  }
};

const visit = (item: WideJson, place: string, found: Found, set: (text: string) => void): void => {
  if (typeof item === 'string') found(place, item, set);
  else collect(item, place, found);
};

/** What two texts begin with and end with alike: what is between them was changed. */
const unchangedEnds = (before: string, after: string): readonly [prefix: number, suffix: number] => {
  const most = Math.min(before.length, after.length);
  let prefix = 0;
  while (prefix < most && before[prefix] === after[prefix]) prefix++;
  let suffix = 0;
  while (suffix < most - prefix && before.at(-1 - suffix) === after.at(-1 - suffix)) suffix++;
  // Half of a character is none.
  if (/[\uD800-\uDBFF]/.test(before[prefix - 1] ?? '')) prefix--;
  if (/[\uDC00-\uDFFF]/.test(before[before.length - suffix] ?? '')) suffix--;
  return [prefix, suffix];
};

/** Sets the fragments of a text so that together they are another one: what was changed stands where the change begins. */
export const spread = (fragments: readonly Fragment[], before: string, after: string): void => {
  const [prefix, suffix] = unchangedEnds(before, after);
  const rest = before.length - suffix;
  const middle = after.slice(prefix, after.length - suffix);
  let at = 0;
  let isPlaced = false;
  for (const { text, set } of fragments) {
    const [from, to] = [at, at + text.length];
    at = to;
    const takesMiddle: boolean = !isPlaced && (to > prefix || to === before.length);
    isPlaced ||= takesMiddle;
    const kept = before.slice(from, Math.min(to, prefix));
    const left = before.slice(Math.max(from, rest), to);
    const next = `${kept}${takesMiddle ? middle : ''}${left}`;
    if (next !== text) set(next);
  }
};
