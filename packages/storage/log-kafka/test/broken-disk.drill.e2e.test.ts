import { checkCursor, verifyLog, type Cursor } from '@stemma/log';
import { NO_CONTENTS, noteIntent, openNoteRows } from '@stemma/log/contract';
import { batchesIn, missingTools } from '@stemma/test-kit';
import { readdirSync, readFileSync, rmSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { openKafkaLog, type KafkaLog } from '../src/index.ts';
import { newPrefix, noteWriter, ownBrokers, type OwnBrokers } from './fault-kit.ts';

const missing = missingTools();

const segmentOf = (folder: string, topic: string): string =>
  join(folder, `${topic}-0`, `${'0'.repeat(20)}.log`);

const write = async (log: KafkaLog, name: string, count: number): Promise<void> => {
  const writer = await noteWriter(log);
  for (let i = 0; i < count; i++) await writer.write(noteIntent(name, `${name}-${i}`, `note ${i}`));
};

describe("a broker's disk", () => {
  let own: OwnBrokers;
  beforeAll(async () => {
    if (missing === undefined) own = await ownBrokers(1);
  });
  afterAll(async () => {
    if (missing === undefined) await own[Symbol.asyncDispose]();
  });
  beforeEach(({ skip }) => {
    if (missing !== undefined) skip(missing);
  });
  it(
    'that lost its newest records and has others in their place is noticed by every cursor behind them',
    { tags: ['record§5:lost-end'], timeout: 600_000 },
    async () => {
      const [[broker], [folder = '']] = [own.brokers, own.folders];
      const options = { brokers: own.addresses, prefix: newPrefix(), partitions: 1 };
      const log = await openKafkaLog(options);
      await write(log, 'hlost', 20);
      const rows = openNoteRows(log);
      await rows.catchUp();
      const cursor = rows.checkpoint(0)?.cursor as Cursor;
      // They stay open: kafkajs connects again without a word.
      const staying = await openKafkaLog(options);
      const writer = await noteWriter(staying);
      await writer.write(noteIntent('hstays', 'first', 'first'));
      await log.close();
      await broker?.stop('SIGKILL');
      const segment = segmentOf(folder, log.facts.topic);
      const starts = batchesIn(readFileSync(segment));
      truncateSync(segment, starts.at(-6) ?? 0);
      for (const file of readdirSync(join(segment, '..')))
        if (/\.(index|timeindex)$/.test(file)) rmSync(join(segment, '..', file));
      await broker?.start();

      const shorter = await openKafkaLog(options);
      expect(shorter.id).toBe(log.id);
      expect(await shorter.end(0)).toBe(cursor.offset - 5);
      await expect(checkCursor(shorter, cursor)).rejects.toMatchObject({ code: 'E_CURSOR_LOST' });
      await write(shorter, 'hother', 10);
      expect(await shorter.end(0)).toBeGreaterThan(cursor.offset);
      await expect(checkCursor(shorter, cursor)).rejects.toMatchObject({ code: 'E_CURSOR_LOST' });
      // It would be stale by everybody else: the frame before it is gone.
      await expect(writer.write(noteIntent('hstays', 'late', 'late'))).rejects.toMatchObject({
        code: expect.stringMatching(/^E_(CURSOR_LOST|OUTCOME_UNKNOWN)$/) as string,
      });
      await staying.close();
      await shorter.close();
    },
  );

  it(
    'that altered a byte is noticed: the record is damaged, and the writer refuses to append behind it',
    { tags: ['record§2:unknown-key'], timeout: 600_000 },
    async () => {
      const [[broker], [folder = '']] = [own.brokers, own.folders];
      const options = { brokers: own.addresses, prefix: newPrefix(), partitions: 1 };
      const log = await openKafkaLog(options);
      await write(log, 'hbad', 10);
      await log.close();
      // Stopped in order: after a kill the broker itself would cut the batch off, and all behind it.
      await broker?.stop('SIGTERM');
      const segment = segmentOf(folder, log.facts.topic);
      const bytes = readFileSync(segment);
      const at = (batchesIn(bytes).at(-3) ?? 0) + 70;
      bytes[at] = (bytes[at] ?? 0) ^ 1;
      writeFileSync(segment, bytes);
      await broker?.start();

      const altered = await openKafkaLog(options);
      const { problems } = await verifyLog(altered, { contents: NO_CONTENTS });
      expect(problems.filter(({ kind }) => kind === 'unknown')).toMatchObject([{ partition: 0, offset: 8 }]);
      const writer = await noteWriter(altered);
      await expect(writer.write(noteIntent('hbad', 'more', 'more'))).rejects.toMatchObject({
        code: 'E_PARTITION_CLOSED',
      });
      await altered.close();
    },
  );
});
