import { canonicalJson, compareCodePoints, type WideJsonObject } from '@stemma/canonical';
import type { ForeignItem } from '../item.ts';
import { sizeOf, withoutNulls } from '../loose-values.ts';
import { exchangeOf, type SaidOfCall } from './exchange.ts';

/** The call of a record, and where it belongs. */
export type CallOfRecord = {
  /** The key of its conversation. */
  readonly run: string;
  readonly title: string | null;
  readonly call: SaidOfCall;
  /** What of the record is recorded nowhere, by name. */
  readonly dropped: readonly string[];
};

/** Records of calls, of which one may come in pieces: its beginning, then its end. */
export type CallRecords = {
  /** Takes a record, or a piece of one: a field that it has, and is not null, counts instead of the one before. */
  readonly add: (id: string, record: WideJsonObject, where: string) => void;
  /** Counts what is no call. */
  readonly drop: (what: string) => void;
  /** The calls that wait, where they are large; nothing otherwise. */
  readonly overflow: () => Iterable<ForeignItem>;
  /** All that waits, and what was counted. */
  readonly end: () => Iterable<ForeignItem>;
};

/** So many characters wait for pieces, and for calls that were made before them. */
const MOST_WAITING = 16 * 1024 * 1024;

/** @param read the call of a whole record; null: it is none, and is counted by what it says itself */
export const openCallRecords = (
  read: (id: string, record: WideJsonObject) => CallOfRecord | { readonly dropped: string },
): CallRecords => {
  const waiting = new Map<string, WideJsonObject>();
  const given = new Set<string>();
  const dropped = new Map<string, number>();
  const repeated: string[] = [];
  let size = 0;
  const drop = (what: string): void => {
    dropped.set(what, (dropped.get(what) ?? 0) + 1);
  };
  function* release(): Iterable<ForeignItem> {
    for (const where of repeated.splice(0)) yield { kind: 'warning', code: 'W_REPEATED', where };
    const calls: CallOfRecord[] = [];
    for (const [id, record] of waiting) {
      given.add(id);
      const found = read(id, record);
      if ('call' in found) calls.push(found);
      else drop(found.dropped);
    }
    waiting.clear();
    size = 0;
    const at = ({ call }: CallOfRecord): number => call.at ?? Number.MAX_SAFE_INTEGER;
    const runs = Map.groupBy(
      calls.toSorted((a, b) => at(a) - at(b)),
      ({ run }) => run,
    );
    for (const [key, placed] of runs) {
      const title = placed.find((each) => each.title !== null)?.title ?? undefined;
      yield { kind: 'conversation', key, ...(title !== undefined && { title }) };
      for (const { call, dropped: names } of placed) {
        yield exchangeOf(call);
        for (const name of names) drop(name);
      }
    }
  }
  return {
    drop,
    add: (id, record, where) => {
      const before = waiting.get(id);
      if (given.has(id) || (before !== undefined && saysNothingNew(before, record))) {
        repeated.push(where);
        return;
      }
      size += sizeOf(record);
      waiting.set(id, { ...before, ...withoutNulls(record) });
    },
    *overflow() {
      if (size > MOST_WAITING) yield* release();
    },
    *end() {
      yield* release();
      for (const [what, count] of [...dropped].toSorted(([a], [b]) => compareCodePoints(a, b)))
        yield { kind: 'dropped', what, count };
    },
  };
};

const saysNothingNew = (before: WideJsonObject, record: WideJsonObject): boolean =>
  Object.entries(withoutNulls(record)).every(
    ([name, value]) =>
      Object.hasOwn(before, name) && canonicalJson(before[name] ?? null) === canonicalJson(value),
  );
