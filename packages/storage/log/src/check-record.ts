import type { Damage, HeadState, PartitionState, StaleReason } from './checkpoint.ts';
import { ZERO_HASH } from './envelope.ts';
import { controlHistory, controlOf, livesIn } from './partition-of.ts';
import type { LogRecord } from './port.ts';
import { sameBytes, type OpenRecord } from './record.ts';

/** The result of the check of a record, with the head of its history after it. */
export type Verdict =
  | {
      readonly kind: 'accepted';
      readonly history: string;
      readonly head: HeadState;
      readonly open: OpenRecord;
    }
  | { readonly kind: 'stale'; readonly reason: StaleReason; readonly open: OpenRecord }
  | { readonly kind: 'damaged'; readonly damage: Damage; readonly head: HeadState | null }
  /** No record, under the key of a history of another partition: nothing that belongs here. */
  | { readonly kind: 'foreign'; readonly offset: number; readonly key: string };

const FRESH: HeadState = { next: 0, prev: ZERO_HASH, state: 'open', stopped: null };

/**
 * Whether a record is accepted, stale, damaged or foreign (record §2): a pure function of its hash, its envelope and the head of
 * its history. It reads no events, limits or command ids, so that readers of all versions decide alike.
 *
 * @param open what {@link openRecord} returns for the record's bytes.
 * @param head of the history that {@link concernedHistory} names; undefined if the reader does not know it.
 */
export const checkRecord = (
  record: LogRecord,
  open: OpenRecord | undefined,
  head: HeadState | undefined,
  state: PartitionState,
): Verdict => {
  if (!open) return damagedUnread(record, head, state);
  const { history } = open.envelope;
  if (!livesIn(history, state))
    return record.damaged ? damagedUnread(record, head, state) : { kind: 'stale', reason: 'misplaced', open };
  if (record.damaged || record.key !== history) {
    return damaged(record.offset, history, head ?? FRESH, false);
  }
  return judgeNext(open, head ?? FRESH, state);
};

/** The history whose head the check needs: the envelope's if the record's hash is right, else the key's. */
export const concernedHistory = (record: LogRecord, open: OpenRecord | undefined): string | null =>
  open ? open.envelope.history : record.key;

const judgeNext = (open: OpenRecord, head: HeadState, state: PartitionState): Verdict => {
  const { history, seq, prev } = open.envelope;
  if (!isInForce(history, state)) return { kind: 'stale', reason: 'misplaced', open };
  if (head.state === 'damaged') return { kind: 'stale', reason: 'after-damage', open };
  if (seq === head.next && sameBytes(prev, head.prev)) {
    // A copy: the record's bytes are a view of a buffer that is reused.
    const next = { ...head, next: seq + 1, prev: new Uint8Array(open.hash) };
    return { kind: 'accepted', history, head: next, open };
  }
  if (seq >= head.next) return { kind: 'stale', reason: 'unfit', open };
  const repeated = seq === head.next - 1 && sameBytes(open.hash, head.prev);
  return { kind: 'stale', reason: repeated ? 'repeated' : 'overtaken', open };
};

/** False for a control history that follows one that is whole. */
const isInForce = (history: string, state: PartitionState): boolean =>
  (controlOf(history)?.n ?? 0) <= state.control;

/**
 * The hash fails, or the bytes are no record: only the key can be used. The record was that history's if the log vouches
 * for the key; otherwise it may have been anybody's, unless the history is known. Nobody appends a frame under the key of
 * a history of another partition: if the log vouches for such a key, the record was never one of this log.
 */
const damagedUnread = (record: LogRecord, head: HeadState | undefined, state: PartitionState): Verdict => {
  const { offset, key, keyVouched } = record;
  const isElsewhere = key !== null && !livesIn(key, state);
  if (isElsewhere && keyVouched) return { kind: 'foreign', offset, key };
  if (key === null || isElsewhere) {
    return {
      kind: 'damaged',
      damage: { offset, history: null, seq: null, affectsWholePartition: true },
      head: null,
    };
  }
  const known =
    keyVouched ||
    (head !== undefined && head.next > 0) ||
    key === controlHistory(state.partition, state.control);
  return damaged(offset, key, head ?? FRESH, !known);
};

const damaged = (
  offset: number,
  history: string,
  head: HeadState,
  affectsWholePartition: boolean,
): Verdict => {
  const stopped = head.stopped ?? head.next;
  return {
    kind: 'damaged',
    damage: { offset, history, seq: stopped, affectsWholePartition },
    head: { ...head, state: 'damaged', stopped },
  };
};
