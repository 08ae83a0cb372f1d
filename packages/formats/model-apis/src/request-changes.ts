import { canonicalJson, type WideJson, type WideJsonObject } from '@stemma/canonical';
import { definitionsIn, valueChanges, type ValueChange } from './tool-definitions.ts';

/** What a request shows or tells a model besides its messages. */
export type RequestFacts = {
  readonly tools: readonly WideJson[];
  readonly parameters: WideJsonObject;
};

/** A tool or a parameter that differs between two requests. */
export type RequestChange = {
  readonly what: 'tool' | 'parameter';
  readonly name: string;
  /** `moved`: the tool is at another place among those that both have. */
  readonly change: 'added' | 'removed' | 'changed' | 'moved';
  /** Of what changed, each value; of a parameter its own. */
  readonly fields: readonly ValueChange[];
};

/** Parameters that say whose call it is, and nothing of what the model is asked. */
const NOT_COUNTED: ReadonlySet<string> = new Set([
  'metadata',
  'previous_response_id',
  'prompt_cache_key',
  'safety_identifier',
  'stream',
  'stream_options',
  'user',
]);

/** What differs between two requests besides their messages: tools in the order of the later request, then parameters by name. */
export const requestChanges = (before: RequestFacts, after: RequestFacts): readonly RequestChange[] => [
  ...toolChanges(before.tools, after.tools),
  ...parameterChanges(before.parameters, after.parameters),
];

const toolChanges = (before: readonly WideJson[], after: readonly WideJson[]): readonly RequestChange[] => {
  const [old, fresh] = [definitionsIn(before), definitionsIn(after)];
  const common = [...fresh.keys()].filter((name) => old.has(name));
  const places = new Map([...old.keys()].map((name, i) => [name, i]));
  const inPlace = longestAscent(common.map((name) => places.get(name) as number));
  const moved = new Set(common.filter((_, i) => !inPlace.has(i)));
  const changes: RequestChange[] = [];
  for (const [name, definition] of fresh) {
    const known = old.get(name);
    if (known === undefined) {
      changes.push({ what: 'tool', name, change: 'added', fields: [] });
      continue;
    }
    const fields = valueChanges(known, definition);
    if (fields.length > 0) changes.push({ what: 'tool', name, change: 'changed', fields });
    if (moved.has(name)) changes.push({ what: 'tool', name, change: 'moved', fields: [] });
  }
  for (const name of old.keys())
    if (!fresh.has(name)) changes.push({ what: 'tool', name, change: 'removed', fields: [] });
  return changes;
};

const parameterChanges = (before: WideJsonObject, after: WideJsonObject): readonly RequestChange[] =>
  [...new Set([...Object.keys(before), ...Object.keys(after)])]
    .filter((name) => !NOT_COUNTED.has(name))
    .sort((a, b) => (a < b ? -1 : 1))
    .flatMap((name): readonly RequestChange[] => {
      const [old, fresh] = [before[name], after[name]];
      if (old === undefined) return [{ what: 'parameter', name, change: 'added', fields: [own(old, fresh)] }];
      if (fresh === undefined)
        return [{ what: 'parameter', name, change: 'removed', fields: [own(old, fresh)] }];
      return canonicalJson(old) === canonicalJson(fresh)
        ? []
        : [{ what: 'parameter', name, change: 'changed', fields: valueChanges(old, fresh) }];
    });

const own = (before: WideJson | undefined, after: WideJson | undefined): ValueChange => ({
  path: '',
  before,
  after,
});

/**
 * The indexes of a longest ascending part of a list of different numbers: what is not in it has moved. By patience sorting
 * (Aldous and Diaconis 1999), in n log n.
 */
const longestAscent = (numbers: readonly number[]): ReadonlySet<number> => {
  const tops: number[] = [];
  const previous: number[] = [];
  for (const [i, number] of numbers.entries()) {
    let [low, high] = [0, tops.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((numbers[tops[middle] as number] as number) < number) low = middle + 1;
      else high = middle;
    }
    previous[i] = low === 0 ? -1 : (tops[low - 1] as number);
    tops[low] = i;
  }
  const ascent = new Set<number>();
  for (let i = tops.at(-1) ?? -1; i >= 0; i = previous[i] as number) ascent.add(i);
  return ascent;
};
