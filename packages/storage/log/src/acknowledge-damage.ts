import { fail, isStemmaError } from '@stemma/errors';
import { checkRecords, historiesOf, openRecords } from './check-records.ts';
import type { Checkpoint, Heads, HeadState } from './checkpoint.ts';
import { appendControl, refuseUnread, type ControlAuthor } from './control.ts';
import type { Opened } from './cursor.ts';
import { controlOf } from './partition-of.ts';
import type { EventLog } from './port.ts';
import { readControl } from './read-partition.ts';

/** Records from one offset to another, both included. */
export type RecordRange = { readonly from: number; readonly to: number };

/** How many damaged records of a range an operator has acknowledged now, and how many were acknowledged before. */
export type Acknowledged = { readonly acknowledged: number; readonly before: number };

/**
 * Acknowledges the damaged records of a range that close the partition, all in one append. What they held is lost, and
 * a command in them may get a second answer (record §2). Records that close only the history of their key stay as they
 * are. Acknowledging a range again changes nothing.
 *
 * @param checkpoint of a reader that stopped at the damage.
 * @throws E_NOTHING_TO_ACK if no record of the range closes the partition; E_RECORD_INTACT if a frame of a history is
 *   among them; E_CONFLICT
 */
export const acknowledgeDamage = async (
  log: EventLog,
  checkpoint: Checkpoint,
  heads: Heads,
  range: RecordRange,
  author: ControlAuthor,
): Promise<Acknowledged> => {
  const { partition } = checkpoint.cursor;
  const closing = await findClosing(log, checkpoint, heads, range);
  if (closing.length === 0)
    throw fail(
      'E_NOTHING_TO_ACK',
      range.from === range.to
        ? `no damaged record at ${partition}@${range.from} closes the partition`
        : `no damaged record from ${partition}@${range.from} to ${partition}@${range.to} closes the partition`,
      { partition, ...range },
    );
  const known = new Set((await readControl(log, checkpoint, heads)).state.acknowledged);
  await appendControl(
    log,
    checkpoint,
    heads,
    ({ acknowledged }) => {
      const done = new Set(acknowledged);
      return closing
        .filter((offset) => !done.has(offset))
        .map((offset) => ({ type: 'DamageAcknowledged', offset }));
    },
    author,
  );
  const before = closing.filter((offset) => known.has(offset)).length;
  return { acknowledged: closing.length - before, before };
};

/** The offsets in the range whose damage closes the partition, acknowledged or not. @throws E_RECORD_INTACT, E_NOTHING_TO_ACK */
const findClosing = async (
  log: EventLog,
  checkpoint: Checkpoint,
  heads: Heads,
  { from, to }: RecordRange,
): Promise<readonly number[]> => {
  const { partition, offset } = checkpoint.cursor;
  const end = Math.min(to, (await log.end(partition)) - 1);
  // What the reader has judged before is not judged again: of that, only frames are looked for.
  for await (const opened of recordsOf(log, partition, from, Math.min(end, offset - 1)))
    refuseFrames(partition, opened);
  const closing = checkpoint.state.damage
    .filter((each) => each.affectsWholePartition && each.offset >= from && each.offset <= to)
    .map((each) => each.offset);
  let at = checkpoint;
  const changed = new Map<string, HeadState>();
  for await (const opened of recordsOf(log, partition, offset, end)) {
    refuseFrames(
      partition,
      opened.filter(({ record }) => record.offset >= from),
    );
    const known = new Map([...(await heads.load(historiesOf(opened))), ...changed]);
    const batch = checkRecords(opened, at, known, { passesDamage: true });
    for (const [history, head] of batch.heads) changed.set(history, head);
    for (const each of batch.damage)
      if (each.affectsWholePartition && each.offset >= from) closing.push(each.offset);
    at = batch.checkpoint;
  }
  return closing;
};

/** The opened records from an offset to another, both included, some at a time. @throws E_NOTHING_TO_ACK, E_BUSY */
async function* recordsOf(
  log: EventLog,
  partition: number,
  from: number,
  to: number,
): AsyncGenerator<readonly Opened[]> {
  for (let at = from; at <= to;) {
    const { records, next } = await log.read(partition, at).catch((cause: unknown) => {
      throw isStemmaError(cause, 'E_CURSOR_LOST') && at === from
        ? fail('E_NOTHING_TO_ACK', `no record begins at ${partition}@${at}`, { partition, offset: at })
        : cause;
    });
    if (records.length === 0) await refuseUnread(log, partition, at);
    if (records.length === 0 || next <= at) return;
    yield openRecords(records.filter(({ offset }) => offset <= to)).opened;
    at = next;
  }
}

/** @throws E_RECORD_INTACT */
const refuseFrames = (partition: number, opened: readonly Opened[]): void => {
  for (const { record, open } of opened) {
    if (open === undefined || record.damaged) continue;
    const { history, seq } = open.envelope;
    // Earlier acknowledgements may lie between the damage.
    if (record.key !== history || controlOf(history) !== undefined) continue;
    throw fail(
      'E_RECORD_INTACT',
      `the record ${partition}@${record.offset} is not damaged: it is frame ${seq} of ${history}`,
      { partition, offset: record.offset, history },
    );
  }
};
