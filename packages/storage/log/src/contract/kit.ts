import { sha256 } from '@stemma/canonical';
import { encodeFrame } from '../body.ts';
import type { HeadState } from '../checkpoint.ts';
import { ZERO_HASH } from '../envelope.ts';
import type { EventLog, LogRecord } from '../port.ts';
import { readFrame } from '../read-frame.ts';
import { checkpointAtStart, readPartition } from '../read-partition.ts';
import { sealRecord } from '../record.ts';
import { openWriter } from '../writer/partition-writer.ts';
import type { Writer } from '../writer/types.ts';
import { NO_CONTENTS, openNoteRows, type Note } from './note-domain.ts';

/** The bytes of a valid record, of a history of its own. */
export const bytesOf = (i: number): Uint8Array =>
  i === 9
    ? new Uint8Array(100).fill(7)
    : sealRecord(
        encodeFrame(
          { v: 1, history: `h${i}`, seq: 0, prev: ZERO_HASH },
          {
            recorder: 'r',
            at: 1n,
            command: `c${i}`,
            digest: sha256(''),
            branchId: 0,
            events: [{ type: 'PositionAnnotated', branchId: 0, seq: 0, note: 'x'.repeat(i * 37) }],
          },
        ).bytes,
      );

export const plain = ({ offset, next, key, bytes, keyVouched, damaged }: LogRecord): object => ({
  offset,
  next,
  key,
  bytes: Buffer.from(bytes),
  keyVouched,
  damaged,
});

export const records = async (
  log: EventLog,
  partition: number,
  from: number,
  maxBytes?: number,
): Promise<LogRecord[]> => {
  const all: LogRecord[] = [];
  for (let at = from; ;) {
    const batch = await log.read(partition, at, maxBytes === undefined ? {} : { maxBytes });
    if (batch.records.length === 0) return all;
    all.push(...batch.records);
    at = batch.next;
  }
};

export const frames = async (
  log: EventLog,
  partition: number,
): Promise<Awaited<ReturnType<typeof readFrame>>[]> => {
  const all: Awaited<ReturnType<typeof readFrame>>[] = [];
  const heads = new Map<string, HeadState>();
  const checkpoint = await checkpointAtStart(log, partition);
  for await (const batch of readPartition(log, { checkpoint, heads: { load: () => heads } })) {
    for (const [history, head] of batch.heads) heads.set(history, head);
    for (const accepted of batch.accepted) all.push(await readFrame(accepted, NO_CONTENTS));
  }
  return all;
};

export const noteWriter = async (log: EventLog, random: () => number): Promise<Writer<Note>> => {
  const rows = openNoteRows(log);
  await rows.catchUp();
  return openWriter(log, {
    domain: rows.domain,
    contents: NO_CONTENTS,
    random,
    now: () => performance.now(),
    sleep: (milliseconds) => new Promise((resolve) => setTimeout(resolve, milliseconds)),
    tries: 1000,
    // Half of what waits is decided while the other half is on its way, however little it is.
    whole: 1,
  });
};
