import type { StemmaEvent } from '@stemma/events';
import { decodeBody, finishBody, isDefect } from './body.ts';
import { checkRecord, concernedHistory, type Verdict } from './check-record.ts';
import type { Checkpoint, Damage, HeadState } from './checkpoint.ts';
import { advanceCursor, type Opened } from './cursor.ts';
import { controlOf } from './partition-of.ts';
import { acknowledge, addDamage, countStale, defectiveAt } from './partition-state.ts';
import type { LogRecord } from './port.ts';
import type { AcceptedFrame, CheckedBatch } from './reading-types.ts';
import { openRecord, type OpenRecord } from './record.ts';

/** Opens records, and names the histories whose heads {@link checkRecords} needs. */
export const openRecords = (
  records: readonly LogRecord[],
): { readonly opened: readonly Opened[]; readonly histories: readonly string[] } => {
  const opened = records.map((record) => ({ record, open: openRecord(record.bytes) }));
  return { opened, histories: historiesOf(opened) };
};

/** The histories that opened records concern. */
export const historiesOf = (opened: readonly Opened[]): readonly string[] => {
  const histories = new Set<string>();
  for (const { record, open } of opened) {
    const history = concernedHistory(record, open);
    if (history !== null) histories.add(history);
  }
  return [...histories];
};

/** A record that is none of Stemma's, and the key it has. */
export type ForeignRecord = { readonly offset: number; readonly key: string };

/**
 * Like {@link CheckedBatch}; `suspects` are offsets that an acknowledgement calls damaged but that were read as good.
 */
export type CheckedRecords = CheckedBatch & {
  readonly suspects: readonly number[];
  readonly foreign: readonly ForeignRecord[];
};

export type CheckRecordsOptions = {
  /** Offsets before which a head is too new to judge a record: such records are skipped. */
  readonly since?: ReadonlyMap<string, number>;
  /** True: reads on after records that close the partition, as if they were acknowledged. */
  readonly passesDamage?: boolean;
};

/**
 * Checks records in order and decides what a reader sees: the only place that does (record §2). Stops after a record
 * that closes the partition.
 *
 * @param heads of all histories that the records concern; a history without an entry is unknown.
 */
export const checkRecords = (
  opened: readonly Opened[],
  checkpoint: Checkpoint,
  heads: ReadonlyMap<string, HeadState>,
  { since, passesDamage = false }: CheckRecordsOptions = {},
): CheckedRecords => {
  const changed = new Map<string, HeadState>();
  const accepted: AcceptedFrame[] = [];
  const damage: Damage[] = [];
  const suspects: number[] = [];
  const foreign: ForeignRecord[] = [];
  let state = checkpoint.state;
  /** What is not in the state yet: to add each alone would copy what is there as often. */
  let pending: { readonly damage: Damage[]; readonly acknowledged: number[] } = NOTHING_PENDING();
  /** Offsets of damage, and of what is acknowledged of it. */
  let damagedAt: Set<number> | undefined;
  let acknowledged: Set<number> | undefined;
  let count = 0;
  let held: number | null = null;
  let done = 0;

  const settle = (): void => {
    if (pending.damage.length > 0) state = addDamage(state, pending.damage);
    if (pending.acknowledged.length > 0) state = acknowledge(state, pending.acknowledged);
    pending = NOTHING_PENDING();
  };
  const accept = (record: LogRecord, verdict: Verdict & { kind: 'accepted' }): void => {
    const { history, head, open } = verdict;
    changed.set(history, head);
    count++;
    if (head.state !== 'open') return;
    const control = controlOf(history) !== undefined;
    accepted.push({ ...locationOf(record, state.partition), ...frameOf(open), control });
    if (!control) return;
    const events = controlEvents(open);
    if (!events) changed.set(history, defectiveAt(head, open.envelope.seq));
    for (const event of events ?? [])
      if (event.type === 'FormatRaised') state = { ...state, format: Math.max(state.format, event.version) };
    const offsets = acknowledgedIn(events);
    suspect(offsets);
    for (const offset of offsets) {
      pending.acknowledged.push(offset);
      acknowledged?.add(offset);
    }
  };
  const suspect = (offsets: readonly number[]): void => {
    if (offsets.length > 0) damagedAt ??= new Set([...state.damage, ...damage].map(({ offset }) => offset));
    for (const offset of offsets) if (damagedAt?.has(offset) !== true) suspects.push(offset);
  };
  const suspectStale = (open: OpenRecord): void => {
    if (!controlOf(open.envelope.history)) return;
    suspect(acknowledgedIn(controlEvents(open)));
  };
  const damaged = (verdict: Verdict & { kind: 'damaged' }, tooNew: boolean): void => {
    damage.push(verdict.damage);
    pending.damage.push(verdict.damage);
    const { history, offset, affectsWholePartition } = verdict.damage;
    damagedAt?.add(offset);
    // The check of the next record needs the control history in force.
    if (history !== null && controlOf(history)) settle();
    if (history !== null && verdict.head && !tooNew) changed.set(history, verdict.head);
    if (!affectsWholePartition || passesDamage) return;
    acknowledged ??= new Set([...state.acknowledged, ...pending.acknowledged]);
    if (!acknowledged.has(offset)) held = offset;
  };

  for (const { record, open } of opened) {
    const history = concernedHistory(record, open);
    const head = history === null ? undefined : (changed.get(history) ?? heads.get(history));
    const tooNew = history !== null && record.offset < (since?.get(history) ?? 0);
    const verdict = checkRecord(record, open, head, state);
    done++;
    if (verdict.kind === 'damaged') damaged(verdict, tooNew);
    else if (verdict.kind === 'foreign') {
      state = countStale(state, 'foreign');
      foreign.push({ offset: verdict.offset, key: verdict.key });
    } else if (tooNew) continue;
    else if (verdict.kind === 'accepted') accept(record, verdict);
    else {
      state = countStale(state, verdict.reason);
      suspectStale(verdict.open);
    }
    if (closes(held)) break;
  }
  settle();
  const cursor = advanceCursor(checkpoint.cursor, done === opened.length ? opened : opened.slice(0, done));
  state = { ...state, accepted: state.accepted + count };
  return { accepted, heads: changed, checkpoint: { cursor, state }, damage, held, suspects, foreign };
};

const NOTHING_PENDING = (): { readonly damage: Damage[]; readonly acknowledged: number[] } => ({
  damage: [],
  acknowledged: [],
});

const closes = (held: number | null): boolean => held !== null;

const acknowledgedIn = (events: readonly StemmaEvent[] | undefined): readonly number[] =>
  (events ?? []).flatMap((event) => (event.type === 'DamageAcknowledged' ? [event.offset] : []));

const locationOf = (
  record: LogRecord,
  partition: number,
): Pick<AcceptedFrame, 'partition' | 'offset' | 'next'> => ({
  partition,
  offset: record.offset,
  next: record.next,
});

const frameOf = (open: OpenRecord): Pick<AcceptedFrame, 'envelope' | 'hash' | 'bytes' | 'bodyAt'> => ({
  envelope: open.envelope,
  hash: open.hash,
  bytes: open.frame,
  bodyAt: open.bodyAt,
});

/** The events of a control frame; undefined if the frame is defective. @throws E_VERSION_NEEDED */
const controlEvents = (open: OpenRecord): readonly StemmaEvent[] | undefined => {
  try {
    const body = decodeBody(open.envelope.v, open.frame, open.bodyAt);
    return finishBody(body, () => undefined).events;
  } catch (error) {
    if (isDefect(error)) return undefined;
    throw error;
  }
};
