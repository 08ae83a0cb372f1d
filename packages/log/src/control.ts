import { pack, sha256 } from '@stemma/canonical';
import { fail } from '@stemma/errors';
import { type ControlEvent, versionOfFrame } from '@stemma/events';
import { decodeBody, encodeFrame, finishBody } from './body.ts';
import { checkRecords, openRecords } from './check-records.ts';
import type { Checkpoint, Heads, HeadState, PartitionState } from './checkpoint.ts';
import { cursorAtStart } from './cursor.ts';
import { ZERO_HASH } from './envelope.ts';
import { controlHistory } from './partition-of.ts';
import { closedBy, freshPartition } from './partition-state.ts';
import type { EventLog } from './port.ts';
import { readControl, type ControlState } from './read-partition.ts';
import { sameBytes, sealRecord } from './record.ts';

/** A log that may not have an id yet. */
export type RawLog = Omit<EventLog, 'id'>;

/** The actor of a control event, its time, and its command id. */
export type ControlAuthor = { readonly at: bigint; readonly actor: string; readonly command: string };

/** The record of one control event, at the next `seq` of its history. */
const controlRecord = (
  history: string,
  head: Pick<HeadState, 'next' | 'prev'>,
  event: ControlEvent,
  { at, actor, command }: ControlAuthor,
): Uint8Array => {
  const digest = sha256(pack(event));
  const envelope = { v: versionOfFrame([event]), history, seq: head.next, prev: head.prev };
  return sealRecord(
    encodeFrame(envelope, { actor, at, command, digest, branchId: 0, events: [event] }).bytes,
  );
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
    const bytes = controlRecord(history, { next: 0, prev: ZERO_HASH }, event, author);
    await log.append(partition, [{ key: history, bytes }]);
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
 * Appends a control event to the control history in force; resolves with its offset when it is accepted.
 *
 * @param checkpoint and heads of any reader of the partition; reading continues from there.
 * @throws E_CONFLICT if other writers were first ten times.
 */
export const appendControl = async (
  log: EventLog,
  checkpoint: Checkpoint,
  heads: Heads,
  event: ControlEvent,
  author: ControlAuthor,
): Promise<number> => {
  const { partition } = checkpoint.cursor;
  for (let tries = 0; tries < 10; tries++) {
    const { history, head } = controlInForce(await readControl(log, checkpoint, heads), partition);
    const bytes = controlRecord(history, head, event, author);
    const [placed] = await log.append(partition, [{ key: history, bytes }]);
    const after = (await readControl(log, checkpoint, heads)).heads.get(history);
    if (placed && after && after.next > head.next && sameBytes(after.prev, bytes.subarray(bytes.length - 32)))
      return placed.offset;
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
  const { state } = await readControl(log, checkpoint, heads);
  if (version <= state.format) return;
  const event = { type: 'FormatRaised', version } as const;
  await appendControl(log, checkpoint, heads, event, { at, actor: 'stemma', command: `raise:${version}` });
};

const controlInForce = (
  { state, heads }: ControlState,
  partition: number,
): { history: string; head: Pick<HeadState, 'next' | 'prev'> } => {
  const history = controlHistory(partition, state.control);
  return { history, head: heads.get(history) ?? { next: 0, prev: ZERO_HASH } };
};

/**
 * Acknowledges a damaged record and so reopens the partition that it closed. What the record held is lost, and a
 * command in it may get a second answer (record §2). Resolves with the offset of the acknowledgement.
 *
 * @param checkpoint of a reader that stopped at the damage.
 * @throws E_NOTHING_TO_ACK if the partition is not closed by this offset.
 */
export const acknowledgeDamage = async (
  log: EventLog,
  checkpoint: Checkpoint,
  heads: Heads,
  offset: number,
  author: ControlAuthor,
): Promise<number> => {
  const { partition } = checkpoint.cursor;
  const state: PartitionState = checkpoint.state;
  if (closedBy(state)?.offset !== offset)
    throw fail('E_NOTHING_TO_ACK', `no damaged record at ${partition}@${offset} closes the partition`, {
      partition,
      offset,
    });
  return appendControl(log, checkpoint, heads, { type: 'DamageAcknowledged', offset }, author);
};
