import { fail } from '@stemma/errors';
import { checkCursor } from '../cursor.ts';
import { fenceRecords, openRecords, type FencedRecords } from '../fence-records.ts';
import { closedBy } from '../partition-state.ts';
import { controlHistory } from '../partition-of.ts';
import type { EventLog, LogRecord } from '../port.ts';
import { readControl } from '../read-partition.ts';
import { openChecked } from '../renewed.ts';
import type { Damage, HeadState, Standing } from '../standing.ts';
import type { Domain } from './types.ts';

/**
 * How far a writer has read a partition, with the heads of the histories it writes to and of the control histories.
 * Of all others it needs no heads: their frames are passed over.
 */
export type Tail = {
  readonly standing: () => Standing;
  /** Why nothing may be written, if something closes the partition. */
  readonly closed: () => Damage | null;
  /** What follows, to be taken. @throws E_CURSOR_LOST if what was read before is not there any more. */
  readonly read: () => Promise<readonly LogRecord[]>;
  /** True unless a connection was made anew: then nothing is trusted that was not read. */
  readonly holds: () => boolean;
  /** Puts records that follow on the standing through the fence. */
  readonly take: (records: readonly LogRecord[]) => Promise<FencedRecords>;
  readonly head: (history: string) => HeadState | undefined;
  /** From here on the head of this history is kept; it is as of `asOf`. */
  readonly follow: (history: string, head: HeadState, asOf: number) => void;
  readonly forget: (history: string) => void;
};

const EVERYTHING = Number.MAX_SAFE_INTEGER;

/** Begins where the rows stand. */
export const openTail = async <C>(log: EventLog, domain: Domain<C>, partition: number): Promise<Tail> => {
  const begun = await begin(domain, partition);
  const checked = openChecked(log);
  await checkCursor(log, begun.standing.cursor);
  let standing = await acknowledged(log, begun.standing, begun.heads);
  const heads = new Map(begun.heads);
  const since = new Map<string, number>();

  const take = async (records: readonly LogRecord[]): Promise<FencedRecords> => {
    const { opened, histories } = openRecords(records);
    const known = new Map(heads);
    const from = new Map(since);
    for (const history of histories)
      if (!heads.has(history) && !isControl(history)) from.set(history, EVERYTHING);
    for (const { record, open } of opened) {
      if (open || record.key === null || heads.has(record.key)) continue;
      const head = await headBefore(log, domain, partition, record.key, record.offset);
      if (head) known.set(record.key, head);
    }
    const batch = fenceRecords(opened, standing, known, from);
    for (const [history, head] of batch.heads)
      if (!from.has(history) || since.has(history)) heads.set(history, head);
    standing = batch.standing;
    return batch;
  };

  const isControl = (history: string): boolean => history.startsWith('log:');
  return {
    standing: () => standing,
    closed: () => closedBy(standing.state),
    read: async () => (await checked.read(standing.cursor)).records,
    holds: checked.holds,
    take,
    head: (history) => heads.get(history),
    follow: (history, head, asOf) => {
      heads.set(history, head);
      if (asOf > standing.cursor.offset) since.set(history, asOf);
    },
    forget: (history) => {
      heads.delete(history);
      since.delete(history);
    },
  };
};

/** Where the rows stand, and the heads of the control histories at the same place. */
const begin = async <C>(
  domain: Domain<C>,
  partition: number,
): Promise<{ standing: Standing; heads: ReadonlyMap<string, HeadState> }> => {
  for (let tries = 0; tries < 100; tries++) {
    const standing = await domain.standing(partition);
    const names = Array.from({ length: standing.state.control + 1 }, (_, n) => controlHistory(partition, n));
    const { asOf, heads } = await domain.heads(partition, names);
    if (asOf === standing.cursor.offset) return { standing, heads };
  }
  throw fail('E_BUSY', 'the rows move on faster than they can be read');
};

/** The standing with every acknowledgement in it that stands further on, if damage closes the partition. */
const acknowledged = async (
  log: EventLog,
  standing: Standing,
  heads: ReadonlyMap<string, HeadState>,
): Promise<Standing> => {
  if (!closedBy(standing.state)) return standing;
  const { state } = await readControl(log, standing, { load: () => heads });
  return { ...standing, state: { ...standing.state, acknowledged: state.acknowledged } };
};

/** Whether a history that the writer does not follow was known before an offset: damage under its key asks. */
const headBefore = async <C>(
  log: EventLog,
  domain: Domain<C>,
  partition: number,
  history: string,
  offset: number,
): Promise<HeadState | undefined> => {
  const { asOf, heads } = await domain.heads(partition, [history]);
  // Rows beyond the damage have closed the history if it was unknown: its `next` is then still 0.
  return scanHead(log, partition, history, heads.get(history), asOf, offset);
};

/** The head of one history brought on from one offset to another, by reading the log between. */
export const scanHead = async (
  log: EventLog,
  partition: number,
  history: string,
  head: HeadState | undefined,
  from: number,
  to: number,
  each: (batch: FencedRecords) => Promise<void> = async () => undefined,
): Promise<HeadState | undefined> => {
  let current = head;
  for (let at = from; at < to;) {
    const { records, next } = await log.read(partition, at);
    const ours = openRecords(records.filter(({ offset }) => offset < to));
    const opened = ours.opened.filter(
      ({ record, open }) => (open ? open.envelope.history : record.key) === history,
    );
    const standing: Standing = {
      cursor: { log: log.id, partition, offset: at, from: [], tail: new Uint8Array() },
      state: { ...scratch, partition, partitions: log.partitions },
    };
    const batch = fenceRecords(opened, standing, current ? new Map([[history, current]]) : new Map());
    await each(batch);
    current = batch.heads.get(history) ?? current;
    // The tail has read to there: a log that does not give it again must not be taken for an empty one.
    if (records.length === 0 || next <= at)
      throw fail(
        'E_BUSY',
        `partition ${partition} does not give what stands between ${at} and ${to} just now`,
      );
    at = next;
  }
  return current;
};

const scratch = {
  control: 0,
  format: 1,
  damage: [],
  acknowledged: [],
  accepted: 0,
  fenced: { repeated: 0, overtaken: 0, unfit: 0, misplaced: 0, 'behind-damage': 0 },
} as const;
