import { ContentRef, pack, sha256, toHex, unpack, type Packable } from '@stemma/canonical';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { noteIntent, openNoteRows } from '../src/contract/note-domain.ts';
import {
  appendControl,
  checkpointAtStart,
  decodeBody,
  decodeEnvelope,
  encodeEnvelope,
  encodeFrame,
  finishBody,
  openMemoryLog,
  openPartitions,
  openRecord,
  readPartition,
  sealRecord,
  ZERO_HASH,
  type Checkpoint,
  type EventLog,
  type HeadState,
  type LogRecord,
  type RawLog,
} from '../src/index.ts';
import { noteWriter } from './note-writer.ts';
import { sampleBody } from './samples.ts';

const frameOf = ({ bytes }: LogRecord): Uint8Array => bytes.subarray(0, -32);
const envelopeOf = (record: LogRecord) => openRecord(record.bytes)?.envelope;

describe('a record', () => {
  it(
    'is a frame and its SHA-256, keyed by its history, and is refused when a bit of either is flipped',
    { tags: ['record§1:record'] },
    async () => {
      const log = await openMemoryLog();
      await (await noteWriter(log)).write(noteIntent('h', 'a', 'one'));
      const record = log.records(0)[1] as LogRecord;
      expect([record.key, toHex(record.bytes.subarray(-32))]).toEqual(['h', toHex(sha256(frameOf(record)))]);
      for (let at = 0; at < record.bytes.length; at++) {
        const altered = record.bytes.slice();
        altered[at] = (altered[at] as number) ^ 4;
        expect(openRecord(altered)).toBeUndefined();
      }
    },
  );

  it(
    'holds the number of its frame in the history, from 0, and the SHA-256 of the frame before; each history has its own numbers',
    { tags: ['record§1:seq-and-prev'] },
    async () => {
      const log = await openMemoryLog();
      const writer = await noteWriter(log);
      for (let i = 0; i < 7; i++) await writer.write(noteIntent(`h${i % 2}`, `c${i}`, `${i}`));
      for (const [history, count] of [
        ['h0', 4],
        ['h1', 3],
        ['log:0', 1],
      ] as const) {
        const own = log.records(0).filter(({ key }) => key === history);
        expect(own.map((record) => envelopeOf(record))).toEqual(
          Array.from({ length: count }, (_, seq) => ({
            v: 1,
            history,
            seq,
            prev: seq === 0 ? ZERO_HASH : sha256(frameOf(own[seq - 1] as LogRecord)),
          })),
        );
      }
    },
  );

  it(
    'holds the id and the digest of its command, as the client gave them',
    { tags: ['record§1:command-and-digest'] },
    async () => {
      const log = await openMemoryLog();
      const intent = noteIntent('h', 'a command', 'one');
      await (await noteWriter(log)).write(intent);
      const frame = frameOf(log.records(0)[1] as LogRecord);
      const read = decodeEnvelope(frame);
      const body = finishBody(decodeBody(1, frame, read?.bodyAt ?? 0), () => undefined);
      expect([body.command, toHex(body.digest)]).toEqual(['a command', toHex(intent.digest)]);
    },
  );

  it(
    'that was stale is accepted when the same bytes are appended again where they fit',
    { tags: ['record§2:stale'] },
    async () => {
      const [source, log] = [await openMemoryLog(), await openMemoryLog()];
      const writer = await noteWriter(source);
      for (const id of ['a', 'b']) await writer.write(noteIntent('h', id, id));
      const [, first, second] = source.records(0) as [LogRecord, LogRecord, LogRecord];
      const append = (...records: LogRecord[]): Promise<unknown> =>
      log.append(0, records.map(({ bytes }) => ({ key: 'h', bytes }))); // prettier-ignore
      const rows = openNoteRows(log);
      await append(second, first, first);
      await rows.catchUp();
      expect([rows.notes('h'), rows.checkpoint(0)?.state.stale]).toMatchObject([
        ['a'],
        { unfit: 1, repeated: 1 },
      ]);
      await append(second);
      await rows.catchUp();
      expect(rows.notes('h')).toEqual(['a', 'b']);
    },
  );

  it(
    'of an unknown version is ignored where it is stale, and stops the reader only where it would be accepted',
    { tags: ['record§2:unknown-version'] },
    async () => {
      const log = await openMemoryLog();
      const writer = await noteWriter(log);
      await writer.write(noteIntent('h', 'a', 'one'));
      const later = (seq: number, prev: Uint8Array): Uint8Array =>
        sealRecord(Buffer.concat([encodeEnvelope({ v: 7, history: 'h', seq, prev }), Buffer.from([0xc1])]));
      await log.append(0, [{ key: 'h', bytes: later(5, sha256('nothing')) }]);
      await writer.write(noteIntent('h', 'b', 'two'));
      const rows = openNoteRows(log);
      await rows.catchUp();
      expect(rows.notes('h')).toEqual(['one', 'two']);
      await log.append(0, [
        { key: 'h', bytes: later(2, sha256(frameOf(log.records(0).at(-1) as LogRecord))) },
      ]);
      await expect(rows.catchUp()).rejects.toMatchObject({
        code: 'E_VERSION_NEEDED',
        message: expect.stringContaining('7') as string,
      });
    },
  );
});

describe('a raised format', () => {
  it(
    'is recorded in the control history, is known to a reader that continues and to one that starts anew, and never gets lower',
    { tags: ['record§2:control-events'] },
    async () => {
      const log = await openMemoryLog();
      const heads = new Map<string, HeadState>();
      const read = async (): Promise<Checkpoint> => {
        let checkpoint = await checkpointAtStart(log, 0);
        heads.clear();
        for await (const batch of readPartition(log, { checkpoint, heads: { load: () => heads } })) {
          for (const [history, head] of batch.heads) heads.set(history, head);
          checkpoint = batch.checkpoint;
        }
        return checkpoint;
      };
      const author = { at: 1n, actor: 'operator', command: 'raise' };
      expect((await read()).state.format).toBe(1);
      for (const version of [3, 2])
        await appendControl(
          log,
          await read(),
          { load: () => heads },
          () => [{ type: 'FormatRaised', version }],
          author,
        );
      expect((await read()).state.format).toBe(3);
      const rows = openNoteRows(log);
      await rows.catchUp({ maxRecords: 1 });
      expect([rows.checkpoint(0)?.state.format, rows.head('log:0')?.next]).toEqual([3, 3]);
    },
  );
});

describe('a reference to a content', () => {
  it(
    'is a msgpack extension of 32 bytes and a length, so that no value inside a content is read as a reference',
    { tags: ['record§4:reference'] },
    () => {
      const ref = new ContentRef('ab'.repeat(32), 300_000);
      const lookalikes: Packable[] = [
        { sha256: ref.sha256, length: 300_000 },
        [1, ref.sha256, 300_000],
        toHex(pack(ref)),
      ];
      fc.assert(
        fc.property(fc.oneof(fc.constantFrom(...lookalikes), fc.json()), (content) => {
          const body = sampleBody([{ type: 'NodeReplaced', id: 'n', fields: [], payload: { content } }]);
          const { bytes, contents } = encodeFrame({ v: 1, history: 'h', seq: 0, prev: ZERO_HASH }, body);
          const read = decodeBody(1, bytes, decodeEnvelope(bytes)?.bodyAt ?? 0);
          expect(contents).toEqual([]);
          expect(finishBody(read, () => new Uint8Array())).toEqual(body);
        }),
        { numRuns: 100 },
      );
      expect([unpack(pack(ref)), toHex(pack(ref).subarray(0, 3))]).toEqual([ref, 'c72801']);
    },
  );
});

describe('the id of a log', () => {
  /** The partitions of one raw log, and a second opener that is let in between the first one's look and its append. */
  const raced = async (): Promise<[Promise<string>, Promise<string>, EventLog]> => {
    const log = await openMemoryLog({ partitions: 3 });
    for (let partition = 0; partition < 3; partition++) log.records(partition).length = 0;
    const slow: RawLog = {
      ...log,
      append: async (...args) => (await new Promise((resolve) => setImmediate(resolve)), log.append(...args)),
    };
    return [openPartitions(slow, 'one', 1n), openPartitions(slow, 'two', 2n), log];
  };

  it(
    'is the same for all processes that create the log at once: the accepted LogOpened of log:0 decides it, the other partitions repeat it',
    { tags: ['record§5:log-id'] },
    async () => {
      const [one, two, log] = await raced();
      const ids = await Promise.all([one, two]);
      expect(new Set(ids).size).toBe(1);
      expect(await openPartitions(log, 'three', 3n)).toBe(ids[0]);
      const rows = openNoteRows({ ...log, id: ids[0] });
      await rows.catchUp();
      for (let partition = 0; partition < 3; partition++)
        expect(rows.head(`log:${partition}`)).toMatchObject({ next: 1, state: 'open' });
    },
  );
});
