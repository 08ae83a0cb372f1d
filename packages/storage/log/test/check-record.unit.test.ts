import { sha256 } from '@stemma/canonical';
import { describe, expect, it } from 'vitest';
import { NO_CONTENTS, noteIntent, openNoteRows } from '../src/contract/note-domain.ts';
import {
  checkRecord,
  closedBy,
  encodeFrame,
  freshPartition,
  openMemoryLog,
  openRecord,
  partitionOf,
  readPartition,
  sealRecord,
  verifyLog,
  ZERO_HASH,
  type HeadState,
  type LogRecord,
  type PartitionState,
  type Verdict,
} from '../src/index.ts';
import { addDamage } from '../src/partition-state.ts';
import { noteWriter } from './note-writer.ts';
import { sampleBody } from './samples.ts';

const record = (
  history: string,
  seq: number,
  prev: Uint8Array = ZERO_HASH,
  more: Partial<LogRecord> = {},
): LogRecord => ({
  offset: 5,
  next: 6,
  key: history,
  bytes: sealRecord(
    encodeFrame({ v: 1, history, seq, prev }, sampleBody([{ type: 'NodeExpired', id: `n${seq}` }])).bytes,
  ),
  keyVouched: true,
  damaged: false,
  ...more,
});
const judge = (each: LogRecord, head?: HeadState, state: PartitionState = freshPartition(0, 1)): Verdict =>
  checkRecord(each, openRecord(each.bytes), head, state);

const first = record('h', 0);
const hash = first.bytes.slice(-32);
const open: HeadState = { next: 1, prev: hash, state: 'open', stopped: null };
const flipped = (each: LogRecord): LogRecord => {
  const bytes = each.bytes.slice();
  bytes[60] = (bytes[60] as number) ^ 1;
  return { ...each, bytes };
};

describe('the check of records', () => {
  it(
    'accepts the next frame of a history, whatever its events are',
    { tags: ['record§2:verdict', 'record§2:accepted'] },
    () => {
      expect(judge(first)).toMatchObject({ kind: 'accepted', head: open });
      const second = record('h', 1, hash);
      expect(judge(second, open)).toMatchObject({
        kind: 'accepted',
        head: { next: 2, prev: second.bytes.slice(-32) },
      });
      const later = sealRecord(Buffer.concat([second.bytes.subarray(0, -33), Buffer.from('?')]));
      expect(judge({ ...second, bytes: later }, open).kind).toBe('accepted');
    },
  );

  it.each<[string, LogRecord, HeadState | undefined, string]>([
    ['the newest frame once more', first, open, 'repeated'],
    ['another frame in its place', record('h', 0, sha256('x')), open, 'overtaken'],
    ['a frame whose past is missing', record('h', 2, hash), open, 'unfit'],
    ['a frame decided on another past', record('h', 1, sha256('x')), open, 'unfit'],
    ['the first frame with a past', record('h', 0, sha256('x')), undefined, 'unfit'],
    ['a frame after damage', record('h', 1, hash), { ...open, state: 'damaged', stopped: 1 }, 'after-damage'],
    ['a control history of another partition', record('log:1', 0), undefined, 'misplaced'],
    ['a control history whose time has not come', record('log:0/1', 0), undefined, 'misplaced'],
  ])(
    'ignores %s, and gives the reason',
    { tags: ['record§2:verdict', 'record§2:stale'] },
    (_what, each, head, reason) => {
      expect(judge(each, head)).toMatchObject({ kind: 'stale', reason });
    },
  );

  it(
    'ignores a record of a history that belongs to another partition',
    { tags: ['record§5:partition', 'record§2:accepted'] },
    () => {
      for (const history of ['ha', 'hb', 'hc', 'hd']) {
        const isLocal = partitionOf(history, 7) === 3;
        expect(judge(record(history, 0), undefined, freshPartition(3, 7)).kind).toBe(
          isLocal ? 'accepted' : 'stale',
        );
      }
      // The first four bytes of SHA-256("ha"), big-endian, modulo 7.
      expect(partitionOf('ha', 7)).toBe(
        Number.parseInt(Buffer.from(sha256('ha')).toString('hex', 0, 4), 16) % 7,
      );
    },
  );

  it(
    'a damaged record closes the history that its key names, whether or not the record had been accepted',
    { tags: ['record§2:damaged'] },
    () => {
      expect(judge(flipped(record('h', 1, hash)), open)).toEqual({
        kind: 'damaged',
        damage: { offset: 5, history: 'h', seq: 1, affectsWholePartition: false },
        head: { next: 1, prev: hash, state: 'damaged', stopped: 1 },
      });
      expect(judge(flipped(first), open)).toMatchObject({
        damage: { history: 'h', seq: 1, affectsWholePartition: false },
      });
    },
  );

  it(
    'a damaged record closes only the history of its key, known or not, if the log guarantees the key',
    { tags: ['record§2:damaged'] },
    () => {
      expect(judge(flipped(first))).toEqual({
        kind: 'damaged',
        damage: { offset: 5, history: 'h', seq: 0, affectsWholePartition: false },
        head: { next: 0, prev: ZERO_HASH, state: 'damaged', stopped: 0 },
      });
    },
  );

  it(
    'a damaged record closes its partition too if the log does not guarantee the key and the key names no known history',
    { tags: ['record§2:unknown-key'] },
    () => {
      const unvouched = { ...flipped(first), keyVouched: false };
      expect(judge(unvouched)).toMatchObject({
        damage: { history: 'h', seq: 0, affectsWholePartition: true },
        head: { state: 'damaged' },
      });
      expect(judge({ ...unvouched, key: null })).toMatchObject({
        damage: { history: null, affectsWholePartition: true },
        head: null,
      });
      // A key that was closed once is no history either.
      const closed: HeadState = { next: 0, prev: ZERO_HASH, state: 'damaged', stopped: 0 };
      expect(judge(unvouched, closed)).toMatchObject({ damage: { affectsWholePartition: true } });
      expect(judge(first, closed)).toMatchObject({ reason: 'after-damage' });
    },
  );

  it(
    'closes the history of the envelope if the record’s hash is right and its key is wrong',
    { tags: ['record§2:wrong-key'] },
    () => {
      for (const more of [{ key: 'other' }, { key: null }, { damaged: true }])
        expect(judge(record('h', 1, hash, more), open)).toMatchObject({
          damage: { history: 'h', seq: 1, affectsWholePartition: false },
          head: { state: 'damaged', stopped: 1 },
        });
    },
  );

  it(
    'no record under the vouched key of another partition is foreign, and a whole frame from there is stale, whatever its key',
    { tags: ['record§2:damaged', 'record§2:wrong-key', 'record§2:unknown-key'] },
    () => {
      const [here = '', elsewhere = ''] = [3, 4].map((partition) =>
        Array.from({ length: 99 }, (_, i) => `h${i}`).find(
          (history) => partitionOf(history, 7) === partition,
        ),
      );
      const state = freshPartition(3, 7);
      const known: HeadState = { next: 4, prev: hash, state: 'open', stopped: null };
      for (const key of [elsewhere, 'log:4', 'log:4/1'])
        expect(judge(flipped(record(key, 0)), known, state)).toEqual({ kind: 'foreign', offset: 5, key });
      // Without a checksum over it the key may have been that of any history here.
      const unvouched = { ...flipped(record(elsewhere, 0)), keyVouched: false };
      expect(judge(unvouched, known, state)).toEqual({
        kind: 'damaged',
        damage: { offset: 5, history: null, seq: null, affectsWholePartition: true },
        head: null,
      });
      for (const key of [elsewhere, here, null])
        expect(judge(record(elsewhere, 4, hash, { key }), known, state)).toMatchObject({
          kind: 'stale',
          reason: 'misplaced',
        });
      const doubted = record(elsewhere, 4, hash, { damaged: true, key: here });
      expect(judge(doubted, undefined, state)).toMatchObject({
        kind: 'damaged',
        damage: { history: here, affectsWholePartition: false },
      });
    },
  );

  it(
    'knows log:P always, and lets the next control history follow a damaged one',
    { tags: ['record§2:control-successor'] },
    () => {
      const gone = judge(flipped(record('log:0', 0)));
      if (gone.kind !== 'damaged') throw new Error('not damaged');
      expect(gone.damage).toEqual({ offset: 5, history: 'log:0', seq: 0, affectsWholePartition: false });
      const state = addDamage(freshPartition(0, 1), [gone.damage]);
      expect(judge(record('log:0/1', 0), undefined, state).kind).toBe('accepted');
      expect(judge(record('log:0/2', 0), undefined, state)).toMatchObject({ reason: 'misplaced' });
      const successor = judge({ ...flipped(record('log:0/1', 0)), keyVouched: false }, undefined, state);
      expect(successor).toMatchObject({ damage: { affectsWholePartition: false } });
      // One that was damaged before its time came is passed over.
      const early = { offset: 3, history: 'log:0/1', seq: 0, affectsWholePartition: false };
      expect(addDamage(addDamage(freshPartition(0, 1), [early]), [gone.damage]).control).toBe(2);
    },
  );
});

describe('a reader', () => {
  it.each([
    ['', 2, false],
    [', further back than its cursor remembers,', 70, false],
    [', in a control history that it does not know to be in force,', 70, true],
  ])(
    'that read a record as good before somebody acknowledged it%s as damaged reads it again, and refuses',
    { tags: ['record§2:acknowledged-damage'] },
    async (_where, notes, isControlDamaged) => {
      const log = await openMemoryLog();
      const writer = await noteWriter(log);
      for (let i = 0; i < notes; i++) await writer.write(noteIntent('h', `c${i}`, `note ${i}`));
      const early = openNoteRows(log);
      await early.catchUp();
      const [opening, damaged] = log.records(0) as [LogRecord, LogRecord];
      if (isControlDamaged) log.records(0)[0] = flipped(opening);
      log.records(0)[1] = { ...flipped(damaged), key: 'nobody', keyVouched: false };
      const operator = new Map<string, HeadState>();
      const { checkpointAtStart, acknowledgeDamage } = await import('../src/index.ts');
      let checkpoint = await checkpointAtStart(log, 0);
      for await (const batch of readPartition(log, { checkpoint, heads: { load: () => operator } })) {
        for (const [history, head] of batch.heads) operator.set(history, head);
        checkpoint = batch.checkpoint;
      }
      expect(closedBy(checkpoint.state)?.offset).toBe(1);
      const author = { at: 1n, actor: 'operator', command: 'ack' };
      await acknowledgeDamage(log, checkpoint, { load: () => operator }, { from: 1, to: 1 }, author);
      await expect(early.catchUp()).rejects.toMatchObject({ code: 'E_CURSOR_LOST' });
    },
  );

  it(
    'continues with other histories when one is defective, and serves nothing of that one after the defect',
    { tags: ['record§2:defective'] },
    async () => {
      const log = await openMemoryLog();
      const writer = await noteWriter(log);
      await writer.write(noteIntent('good', 'a', 'one'));
      // Accepted, but the note names another frame than the one before it.
      const events = [{ type: 'PositionAnnotated' as const, branchId: 0, seq: 9, note: 'impossible' }];
      const bad = sealRecord(
        encodeFrame({ v: 1, history: 'bad', seq: 0, prev: ZERO_HASH }, sampleBody(events)).bytes,
      );
      const afterDefect = sealRecord(
        encodeFrame({ v: 1, history: 'bad', seq: 1, prev: bad.slice(-32) }, sampleBody(events)).bytes,
      );
      for (const bytes of [bad, afterDefect]) await log.append(0, [{ key: 'bad', bytes }]);
      await writer.write(noteIntent('good', 'b', 'two'));
      const rows = openNoteRows(log);
      await rows.catchUp({ maxRecords: 1 });
      expect(rows.notes('good')).toEqual(['one', 'two']);
      expect(rows.notes('bad')).toEqual([]);
      expect(rows.head('bad')).toMatchObject({ state: 'defective', stopped: 0 });
      const late = await noteWriter(log);
      await expect(late.write(noteIntent('bad', 'c', 'more'))).rejects.toMatchObject({
        code: 'E_HISTORY_DEFECTIVE',
      });
    },
  );

  it(
    'a foreign record under the key of a history does not close it, and verify says where it lies',
    { tags: ['record§2:damaged', 'record§2:verify'] },
    async () => {
      const log = await openMemoryLog({ partitions: 3 });
      const writer = await noteWriter(log);
      await writer.write(noteIntent('h', 'a', 'one'));
      const partition = (partitionOf('h', 3) + 1) % 3;
      await log.append(partition, [{ key: 'h', bytes: Buffer.from('what somebody else writes') }]);
      await writer.write(noteIntent('h', 'b', 'two'));
      const rows = openNoteRows(log);
      await rows.catchUp();
      expect(rows.notes('h')).toEqual(['one', 'two']);
      expect(rows.checkpoint(partition)?.state).toMatchObject({ damage: [], stale: { foreign: 1 } });
      const { problems, histories, stale } = await verifyLog(log, { contents: NO_CONTENTS });
      expect(problems).toEqual([
        {
          partition,
          offset: 1,
          history: null,
          seq: null,
          kind: 'foreign',
          code: 'E_RECORD_FOREIGN',
          message: `the record ${partition}@1 is none of this log: no frame, under the key h of partition ${partitionOf('h', 3)}; no history is affected`,
        },
      ]);
      expect(histories.get('h')).toMatchObject({ next: 2, state: 'open', partition: partitionOf('h', 3) });
      expect(stale.foreign).toBe(1);
    },
  );

  it(
    'that verifies the log reports every problem, also those after one that closes the partition',
    { tags: ['record§2:verify'] },
    async () => {
      const log = await openMemoryLog();
      const writer = await noteWriter(log);
      for (let i = 0; i < 6; i++) await writer.write(noteIntent(`h${i % 2}`, `c${i}`, `${i}`));
      const records = log.records(0);
      records[2] = { ...flipped(records[2] as LogRecord), key: null };
      records[5] = flipped(records[5] as LogRecord);
      const { problems, histories } = await verifyLog(log, { contents: NO_CONTENTS });
      expect(problems).toMatchObject([
        {
          offset: 2,
          history: null,
          seq: null,
          kind: 'unknown',
          message: "the record 0@2 is damaged and may be anybody's",
        },
        { offset: 5, history: 'h0', seq: 2, kind: 'damaged' },
        {
          offset: 2,
          history: 'h1',
          seq: 0,
          kind: 'damaged',
          message:
            'h1 has no frame 0, which may be the damaged record 0@2: what follows it, up to frame 2, is not shown',
        },
      ]);
      expect(histories.get('h0')).toMatchObject({ state: 'damaged', stopped: 2, partition: 0 });
    },
  );
});
