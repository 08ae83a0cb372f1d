import { pack, sha256 } from '@stemma/canonical';
import { fail } from '@stemma/errors';
import { type ControlEvent, versionOfFrame } from '@stemma/events';
import { decodeBody, encodeFrame, finishBody } from './body.ts';
import { checkRecords, openRecords } from './check-records.ts';
import type { Checkpoint, Heads, HeadState, PartitionState } from './checkpoint.ts';
import { cursorAtStart } from './cursor.ts';
import { ZERO_HASH } from './envelope.ts';
import { controlHistory } from './partition-of.ts';
import { freshPartition } from './partition-state.ts';
import type { EventLog } from './port.ts';
import { readControl, type ControlState } from './read-partition.ts';
import { HASH_BYTES, sameBytes, sealRecord } from './record.ts';

/** A log that may not have an id yet. */
export type RawLog = Omit<EventLog, 'id'>;

/** The actor of a control event, its time, and its command id. */
export type ControlAuthor = { readonly at: bigint; readonly actor: string; readonly command: string };

/** About 400 KiB of acknowledgements: one frame holds at most so many events. */
const MAX_EVENTS = 10_000;

/** The records of control events of one command, the first at the next `seq` of their history. */
const controlRecords = (
  history: string,
  { next, prev }: Pick<HeadState, 'next' | 'prev'>,
  events: readonly ControlEvent[],
  { at, actor, command }: ControlAuthor,
): readonly Uint8Array[] => {
  const records: Uint8Array[] = [];
  for (let from = 0; from < events.length; from += MAX_EVENTS) {
    const some = events.slice(from, from + MAX_EVENTS);
    const before = records.at(-1);
    const envelope = {
      v: versionOfFrame(some),
      history,
      seq: next + records.length,
      prev: before?.slice(-HASH_BYTES) ?? prev,
    };
    const digest = sha256(pack(some.length === 1 ? (some[0] as ControlEvent) : some));
    const body = { actor, at, command, digest, branchId: 0, events: some };
    records.push(sealRecord(encodeFrame(envelope, body).bytes));
  }
  return records;
};

/**
 * The id of a log, after every partition begins with `LogOpened` (record §5). The accepted `LogOpened` of `log:0`
 * decides the id; the other partitions get theirs only after it was read back, so that two concurrent creators agree.
 *
 * @param id for a log that has none.
 * @throws E_LOG_MISMATCH if the log has another number of partitions.
 */
export const openPartitions = async (log: RawLog, id: string, at: bigint): Promise<string> => {
  let decided: string | undefined;
  for (let partition = 0; partition < log.partitions; partition++) {
    const opened = await openPartition(log, partition, decided ?? id, at);
    if (opened.partitions !== log.partitions || (decided !== undefined && opened.log !== decided))
      throw fail(
        'E_LOG_MISMATCH',
        `partition ${partition} is one of ${opened.partitions} of the log ${opened.log}, not of ${log.partitions} of ${decided ?? opened.log}`,
      );
    decided = opened.log;
  }
  if (decided === undefined) throw fail('E_LOG_MISMATCH', 'a log has at least one partition');
  return decided;
};

/** What a log says of itself: its id, and the number of partitions that it was made with. */
export type StoredLog = { readonly id: string; readonly partitions: number };

/** What the first record of a log says of it; undefined if the log is empty. */
export const readStoredLog = async (log: RawLog): Promise<StoredLog | undefined> => {
  const { opened } = await findOpened(log, 0);
  return opened && { id: opened.log, partitions: opened.partitions };
};

type LogOpened = Extract<ControlEvent, { type: 'LogOpened' }>;

const openPartition = async (log: RawLog, partition: number, id: string, at: bigint): Promise<LogOpened> => {
  for (let tries = 0; tries < 10; tries++) {
    const { opened, history } = await findOpened(log, partition);
    if (opened) return opened;
    const event: LogOpened = { type: 'LogOpened', log: id, partitions: log.partitions };
    const author = { at, actor: 'stemma', command: `open:${id}` };
    const records = controlRecords(history, { next: 0, prev: ZERO_HASH }, [event], author);
    await log.append(
      partition,
      records.map((bytes) => ({ key: history, bytes })),
    );
  }
  throw fail('E_BUSY', `partition ${partition} does not return the record that opens it`);
};

/** The accepted `LogOpened` of the control history in force, read from the start; or the position where it belongs. */
const findOpened = async (
  log: RawLog,
  partition: number,
): Promise<{ opened: LogOpened | undefined; history: string }> => {
  let at: Checkpoint = {
    cursor: cursorAtStart('', partition),
    state: freshPartition(partition, log.partitions),
  };
  const heads = new Map<string, HeadState>();
  let found: LogOpened | undefined;
  let known = 0;
  for (let from = await log.start(partition); ;) {
    const { records, next } = await log.read(partition, from, { maxBytes: 64 * 1024 });
    for (const record of records) {
      const { opened, histories } = openRecords([record]);
      if (!histories.some((history) => history.startsWith('log:'))) continue;
      const batch = checkRecords(opened, { ...at, state: { ...at.state, damage: [] } }, heads);
      for (const [history, head] of batch.heads) heads.set(history, head);
      at = { cursor: at.cursor, state: batch.checkpoint.state };
      for (const { envelope, bytes, bodyAt } of batch.accepted) {
        const [event] = finishBody(decodeBody(envelope.v, bytes, bodyAt), () => undefined).events;
        if (event?.type === 'LogOpened') found ??= event;
      }
      if (found) return { opened: found, history: controlHistory(partition, at.state.control) };
    }
    if (records.length === 0 || next <= from) {
      if (from < known) await refuseUnread(log, partition, from);
      known = await log.end(partition);
      // Another process opens the partition at this moment: its record came after this read.
      if (from < known) continue;
      return { opened: undefined, history: controlHistory(partition, at.state.control) };
    }
    from = next;
  }
};

/** A log that returns nothing before its end must not count as read. @throws E_BUSY */
export const refuseUnread = async (
  log: Pick<RawLog, 'end'>,
  partition: number,
  from: number,
): Promise<void> => {
  const end = await log.end(partition);
  if (from < end)
    throw fail('E_BUSY', `partition ${partition} returns no record at ${from}, before its end at ${end}`, {
      partition,
      offset: from,
    });
};

/**
 * Appends control events of one command to the control history in force, at once and in order.
 *
 * @param checkpoint and heads of any reader of the partition; reading continues from there.
 * @param missing the events that the partition lacks, as of the log's end; asked before each try.
 * @throws E_CONFLICT if other writers were first ten times.
 */
export const appendControl = async (
  log: EventLog,
  checkpoint: Checkpoint,
  heads: Heads,
  missing: (state: PartitionState) => readonly ControlEvent[],
  author: ControlAuthor,
): Promise<void> => {
  const { partition } = checkpoint.cursor;
  for (let tries = 0; tries < 10; tries++) {
    const control = await readControl(log, checkpoint, heads);
    const { history, head } = controlInForce(control, partition);
    const records = controlRecords(history, head, missing(control.state), author);
    const last = records.at(-1);
    if (last === undefined) return;
    await log.append(
      partition,
      records.map((bytes) => ({ key: history, bytes })),
    );
    const after = (await readControl(log, checkpoint, heads)).heads.get(history);
    if (after?.next === head.next + records.length && sameBytes(after.prev, last.subarray(-HASH_BYTES)))
      return;
  }
  throw fail(
    'E_CONFLICT',
    `others wrote to ${controlHistory(partition, checkpoint.state.control)} at the same time`,
  );
};

/**
 * Says in the log that frames of a version may follow in the partition, unless it says so already (record §2).
 *
 * @param at when the first of them was decided
 * @throws as {@link appendControl}
 */
export const raiseVersion = async (
  log: EventLog,
  checkpoint: Checkpoint,
  heads: Heads,
  { version, at }: { readonly version: number; readonly at: bigint },
): Promise<void> => {
  if (version <= checkpoint.state.format) return;
  const missing = ({ format }: PartitionState): ControlEvent[] =>
    version <= format ? [] : [{ type: 'FormatRaised', version }];
  await appendControl(log, checkpoint, heads, missing, { at, actor: 'stemma', command: `raise:${version}` });
};

const controlInForce = (
  { state, heads }: ControlState,
  partition: number,
): { history: string; head: Pick<HeadState, 'next' | 'prev'> } => {
  const history = controlHistory(partition, state.control);
  return { history, head: heads.get(history) ?? { next: 0, prev: ZERO_HASH } };
};
