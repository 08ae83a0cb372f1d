import type { Binding, Replacements } from './bindings.ts';
import { ID_KINDS, TIME_KINDS, type Tokenizer } from './tokens.ts';
import type { Token } from './token.ts';
import { isTimeOf } from './times.ts';

/** When the two calls were made whose values are compared, in milliseconds since 1970. */
export type CallTimes = { readonly recorded: number; readonly now: number };

/** How far the clocks of the machines are before UTC, in milliseconds; null: nothing said it yet. */
export type ClockOffsets = { readonly recorded: number | null; readonly now: number | null };

/** A value of either side, cut out of its text. */
export type FoundValue = { readonly token: Token; readonly text: string };

/**
 * Which values of a rerun stand for which. Ids and folders do so one to one over the whole rerun; a time does where it is that of
 * its call, and from then on wherever the same two stand.
 */
export type Ledger = {
  readonly ids: Map<string, string>;
  readonly idsNow: Map<string, string>;
  /** Ids that the recording holds: none of them stands for another. */
  readonly recordedIds: ReadonlySet<string>;
  /** Times that were bound, with the ones they stand for. */
  readonly times: Map<string, Set<string>>;
  offsets: ClockOffsets;
  /** Whether an id stands for another one. */
  hasOtherIds: boolean;
};

export const emptyLedger = (recordedIds: ReadonlySet<string>, offsets: ClockOffsets): Ledger => ({
  ids: new Map(),
  idsNow: new Map(),
  recordedIds,
  times: new Map(),
  offsets,
  hasOtherIds: false,
});

/** What the comparison of a call would add to a ledger. Nothing is added unless it is committed. */
export type TentativeBindings = {
  readonly ledger: Ledger;
  readonly at: CallTimes;
  readonly ids: Map<string, string>;
  readonly idsNow: Map<string, string>;
  readonly times: Map<string, Set<string>>;
  offsets: ClockOffsets;
  /** Each pair of different values once. */
  readonly bindings: Map<string, Binding>;
  /** Times that stand for themselves. */
  readonly sameTimes: Set<string>;
  /** Values that were bound, in order, however often. */
  readonly noted: Binding[];
  /** Takes back what was added, the last first. */
  readonly undo: (() => void)[];
  /** The id that could not stand for another, if that is why a comparison failed. */
  conflict: IdConflict | null;
};

/** An id that stands for another one already. */
export type IdConflict = { readonly recorded: string; readonly now: string; readonly known: string };

export const tentativeBindings = (ledger: Ledger, at: CallTimes): TentativeBindings => ({
  ledger,
  at,
  ids: new Map(),
  idsNow: new Map(),
  times: new Map(),
  offsets: ledger.offsets,
  bindings: new Map(),
  sameTimes: new Set(),
  noted: [],
  undo: [],
  conflict: null,
});

/** The values that a comparison bound; undefined if it failed, which leaves the draft as it was. */
export const bindingsOf = (
  draft: TentativeBindings,
  compare: () => boolean,
): readonly Binding[] | undefined => {
  const [undos, noted] = [draft.undo.length, draft.noted.length];
  if (compare()) return [...new Map(draft.noted.slice(noted).map((each) => [pairOf(each), each])).values()];
  while (draft.undo.length > undos) draft.undo.pop()?.();
  draft.noted.length = noted;
  return undefined;
};

/** What a pair of values is kept under. */
export const pairOf = ({ kind, recorded, now }: Binding): string => `${kind}\n${recorded}\n${now}`;

export const commitBindings = ({ ledger, ids, idsNow, times, offsets }: TentativeBindings): void => {
  for (const [recorded, now] of ids) {
    ledger.ids.set(recorded, now);
    ledger.hasOtherIds ||= recorded !== now;
  }
  for (const [now, recorded] of idsNow) ledger.idsNow.set(now, recorded);
  for (const [recorded, now] of times)
    for (const each of now) ledger.times.set(recorded, (ledger.times.get(recorded) ?? new Set()).add(each));
  ledger.offsets = offsets;
};

/** Whether an id may stand for another, and from now on does. */
export const bindId = (draft: TentativeBindings, recorded: string, now: string): boolean => {
  const { ledger, ids, idsNow } = draft;
  const known = ids.get(recorded) ?? ledger.ids.get(recorded);
  if (known === now) return true;
  const other = idsNow.get(now) ?? ledger.idsNow.get(now);
  if (known !== undefined || other !== undefined || (recorded !== now && ledger.recordedIds.has(now))) {
    draft.conflict = { recorded, now, known: known ?? other ?? now };
    return false;
  }
  ids.set(recorded, now);
  idsNow.set(now, recorded);
  draft.undo.push(() => {
    ids.delete(recorded);
    idsNow.delete(now);
  });
  return true;
};

/** Whether a value may stand for another of its kind, and from now on does. */
export const bindValue = (draft: TentativeBindings, recorded: FoundValue, now: FoundValue): boolean => {
  const { kind, mask } = recorded.token;
  if (kind !== now.token.kind || mask !== now.token.mask) return false;
  if (ID_KINDS.has(kind) && !bindId(draft, idOf(recorded), idOf(now))) return false;
  if (recorded.text === now.text) {
    if (TIME_KINDS.has(kind)) draft.sameTimes.add(recorded.text);
    return true;
  }
  if (TIME_KINDS.has(kind) && !bindTime(draft, recorded, now)) return false;
  noteBinding(draft, { kind, ...(mask === null ? {} : { mask }), recorded: recorded.text, now: now.text });
  return true;
};

/** Notes that a value stands for another. */
export const noteBinding = (draft: TentativeBindings, binding: Binding): void => {
  draft.noted.push(binding);
  const pair = pairOf(binding);
  if (draft.bindings.has(pair)) return;
  draft.bindings.set(pair, binding);
  draft.undo.push(() => draft.bindings.delete(pair));
};

const bindTime = (draft: TentativeBindings, recorded: FoundValue, now: FoundValue): boolean => {
  if (draft.ledger.times.get(recorded.text)?.has(now.text) !== true) {
    if (recorded.token.time === null || now.token.time === null) return false;
    const { offsets } = draft;
    const before = isTimeOf(recorded.token.time, draft.at.recorded, offsets.recorded);
    const after = isTimeOf(now.token.time, draft.at.now, offsets.now);
    if (!before.isNear || !after.isNear) return false;
    draft.offsets = { recorded: before.offset, now: after.offset };
    draft.undo.push(() => (draft.offsets = offsets));
  }
  const others = draft.times.get(recorded.text) ?? new Set();
  draft.times.set(recorded.text, others);
  if (others.has(now.text)) return true;
  others.add(now.text);
  draft.undo.push(() => others.delete(now.text));
  return true;
};

/**
 * What an answer says now instead of what was recorded: ids of the whole rerun, and times and masked values of this call where a
 * recorded one stands for one value only.
 */
export const replacementsOf = (
  ledger: Ledger,
  bindings: Iterable<Binding>,
  sameTimes: ReadonlySet<string>,
  tokenize: Tokenizer,
): Replacements => {
  const own = new Map<string, string | null>();
  for (const { kind, recorded, now } of bindings) {
    if (!TIME_KINDS.has(kind) && kind !== 'mask') continue;
    const isSure = (!own.has(recorded) || own.get(recorded) === now) && !sameTimes.has(recorded);
    own.set(recorded, isSure ? now : null);
  }
  const isEmpty = own.size === 0 && !ledger.hasOtherIds;
  const nowOf = (token: Token, text: string): string | null | undefined => {
    if (!ID_KINDS.has(token.kind)) return own.get(text);
    const now = ledger.ids.get(idOf({ token, text }));
    return now !== undefined && hasDoubled(token, text) ? now.replaceAll('\\', '\\\\') : now;
  };
  return {
    isEmpty,
    partsOf: (text) =>
      isEmpty
        ? []
        : tokenize(text, 'assistant').flatMap((token) => {
            const recorded = text.slice(token.start, token.end);
            const now = nowOf(token, recorded) ?? recorded;
            return now === recorded ? [] : [{ start: token.start, end: token.end, now }];
          }),
  };
};

/** In the text of JSON a path of Windows has its backslashes twice. */
const hasDoubled = ({ kind }: Token, text: string): boolean => kind === 'path' && text.includes('\\\\');

const idOf = ({ token, text }: FoundValue): string =>
  hasDoubled(token, text) ? text.replaceAll('\\\\', '\\') : text;
