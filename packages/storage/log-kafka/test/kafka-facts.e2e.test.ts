import { isStemmaError } from '@stemma/errors';
import { checkCursor, checkpointAtStart, openWriter, sealRecord } from '@stemma/log';
import { NO_CONTENTS, noteIntent, openNoteRows } from '@stemma/log/contract';
import { findBroker } from '@stemma/test-kit';
import kafkajs from 'kafkajs';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { openKafkaLog, type KafkaLog, type KafkaLogOptions } from '../src/index.ts';
import { newPrefix, noteWriter } from './fault-kit.ts';

const found = await findBroker();
const brokers = 'skip' in found ? [] : found.brokers;

/* What kafkajs and brokers do, and what of it a user of the log must not notice. */
describe('facts about Kafka that the log relies on', () => {
  beforeEach(({ skip }) => {
    if ('skip' in found) skip(found.skip);
  });
  const opened: KafkaLog[] = [];
  const open = async (options: Partial<KafkaLogOptions> = {}): Promise<KafkaLog> => {
    const log = await openKafkaLog({ brokers, prefix: newPrefix(), partitions: 2, ...options });
    opened.push(log);
    return log;
  };
  const kafka = new kafkajs.Kafka({
    brokers: brokers.length > 0 ? [...brokers] : ['nowhere:1'],
    logLevel: kafkajs.logLevel.NOTHING,
  });
  const admin = kafka.admin();
  beforeAll(async () => {
    if (brokers.length > 0) await admin.connect();
  });
  afterAll(async () => {
    await admin.disconnect();
    for (const log of opened) await log.close();
  });
  /** Resolves when the brokers have written a marker up to there. */
  const marker = async (topic: string, end: number): Promise<void> => {
    for (const until = Date.now() + 120_000; ;) {
      const offsets = await admin.fetchTopicOffsets(topic);
      if (offsets.some(({ partition, high }) => partition === 0 && Number(high) === end)) return;
      if (Date.now() > until) throw new Error('no marker was written');
    }
  };
  const note = (i: number): { key: string; bytes: Uint8Array } => ({
    key: 'h',
    bytes: sealRecord(Buffer.from(`record ${i}`)),
  });

  it(
    'many simultaneous appends are recorded in the order of their calls, each in its partition',
    { tags: ['record§3:batches', 'record§5:partition'] },
    async () => {
      const log = await open();
      const [from, other] = [await log.end(1), await log.end(0)];
      const placed = await Promise.all(Array.from({ length: 200 }, (_, i) => log.append(1, [note(i)])));
      expect(placed.map(([place]) => place?.offset)).toEqual(Array.from({ length: 200 }, (_, i) => from + i));
      const { records } = await log.read(1, from, { maxBytes: 1e7 });
      expect(records.map(({ bytes }) => Buffer.from(bytes.subarray(0, -32)).toString())).toEqual(
        Array.from({ length: 200 }, (_, i) => `record ${i}`),
      );
      expect(await log.end(0)).toBe(other);
    },
  );

  it(
    'two large records that wait together are sent in two requests, since one request would be too large for the broker',
    { tags: ['record§4:frame-limit'] },
    async () => {
      const log = await open();
      // Nothing that compression makes small.
      const bytes = Buffer.from(
        Array.from({ length: 600 * 1024 }, (_, i) => (Math.imul(i, 2654435761) >>> 13) & 255),
      );
      const placed = await Promise.all([1, 2, 3].map(() => log.append(0, [{ key: 'h', bytes }])));
      expect(placed).toHaveLength(3);
    },
  );

  it(
    'an open transaction of another client hides no record, and leaves only gaps in the offsets',
    { tags: ['record§5:cursor'] },
    async () => {
      const log = await open();
      const topic = log.facts.topic;
      const producer = kafka.producer({
        transactionalId: newPrefix(),
        maxInFlightRequests: 1,
        idempotent: true,
        createPartitioner: kafkajs.Partitioners.DefaultPartitioner,
      });
      await producer.connect();
      const transaction = await producer.transaction();
      await transaction.send({
        topic,
        messages: [{ partition: 0, key: 'h', value: Buffer.from(note(1).bytes) }],
      });
      const [mine] = await log.append(0, [note(2)]);
      const seen = await log.read(0, (mine?.offset ?? 0) - 1);
      expect(seen.records).toHaveLength(2);
      await transaction.commit();
      await producer.disconnect();
      await marker(topic, seen.next + 1);
      // The marker of the commit takes an offset, is no record, and wakes nobody up.
      expect(await log.read(0, seen.next)).toEqual({ records: [], next: seen.next });
      expect(await log.end(0)).toBe(seen.next);
      const signal = new AbortController();
      let woken = false;
      const waiting = log.wait(0, seen.next, signal.signal).then(() => (woken = true));
      const [next] = await log.append(0, [note(3)]);
      await waiting;
      expect(woken).toBe(true);
      expect(next?.offset).toBe(seen.next + 1);
      expect((await log.read(0, seen.next)).records.map(({ offset }) => offset)).toEqual([next?.offset]);
    },
  );

  it(
    'a batch that decompresses beyond the bound is a damaged record, and the other partitions are still read',
    { tags: ['record§2:unknown-key', 'record§1:bounded-decoding'] },
    async () => {
      const log = await open();
      const producer = kafka.producer({ createPartitioner: kafkajs.Partitioners.DefaultPartitioner });
      await producer.connect();
      const from = await log.end(0);
      await producer.send({
        topic: log.facts.topic,
        compression: kafkajs.CompressionTypes.GZIP,
        messages: [{ partition: 0, key: 'h', value: Buffer.alloc(50 * 1024 * 1024) }],
      });
      await producer.disconnect();
      expect((await log.read(0, from)).records).toMatchObject([{ offset: from, damaged: true }]);
      const [mine] = await log.append(1, [note(1)]);
      expect((await log.read(1, mine?.offset ?? 0)).records).toHaveLength(1);
    },
  );

  it(
    'an offset that the brokers deleted is refused, never skipped',
    { tags: ['record§5:lost-end'] },
    async () => {
      const log = await open();
      const writer = await noteWriter(log);
      await writer.write(noteIntent('hgone', 'a', 'note'));
      const rows = openNoteRows(log);
      await rows.catchUp();
      const cursor = rows.checkpoint(0)?.cursor;
      if (!cursor) throw new Error('no cursor');
      await admin.fetchTopicMetadata({ topics: [log.facts.topic] });
      await admin.deleteTopicRecords({
        topic: log.facts.topic,
        partitions: [0, 1].map((partition) => ({ partition, offset: '-1' })),
      });
      await expect(checkCursor(log, cursor)).rejects.toMatchObject({ code: 'E_CURSOR_LOST' });
      const prefix = log.facts.topic.replace(/\.frames$/, '');
      await expect(open({ prefix })).rejects.toMatchObject({ code: 'E_LOG_MISMATCH' });
      expect(await log.end(0)).toBe(cursor.offset);
    },
  );

  it(
    'a topic that was deleted and created again is another log: cursors of the old one are refused',
    { tags: ['record§5:log-id'] },
    async () => {
      const prefix = newPrefix();
      const log = await open({ prefix });
      const { cursor } = await checkpointAtStart(log, 0);
      await log.append(0, [note(1)]);
      await log.close();
      await admin.deleteTopics({ topics: [log.facts.topic] });
      let again: KafkaLog | undefined;
      // The brokers take a moment to let go of the name.
      for (const until = Date.now() + 120_000; again === undefined && Date.now() < until;)
        again = await open({ prefix }).catch(() => undefined);
      if (!again) throw new Error('the topic was not made again');
      expect(again.id).not.toBe(log.id);
      await expect(checkCursor(again, cursor)).rejects.toMatchObject({ code: 'E_CURSOR_LOST' });
    },
  );

  it(
    'two processes that create a log at once get the same id, and another number of partitions is refused',
    { tags: ['record§5:log-id'] },
    async () => {
      const prefix = newPrefix();
      const both = await Promise.all([open({ prefix }), open({ prefix })]);
      expect(both[0].id).toBe(both[1].id);
      await expect(open({ prefix, partitions: 3 })).rejects.toMatchObject({ code: 'E_LOG_MISMATCH' });
    },
  );

  it(
    'a topic to which an operator added partitions still holds its log, in the original number of partitions',
    { tags: ['record§5:partition'] },
    async () => {
      const prefix = newPrefix();
      const log = await open({ prefix });
      const writer = await noteWriter(log);
      await writer.write(noteIntent('hbefore', 'a', 'before'));
      await admin.createPartitions({ topicPartitions: [{ topic: log.facts.topic, count: 5 }] });
      let again = await open({ prefix });
      // The brokers tell of the new ones a moment later.
      for (const until = performance.now() + 60_000; again.facts.partitions < 5 && performance.now() < until;)
        again = await open({ prefix, partitions: 2 });
      expect([again.id, again.partitions, again.facts.partitions]).toEqual([log.id, 2, 5]);
      const more = await noteWriter(again);
      for (const name of ['hbefore', 'h1', 'h2', 'h3', 'h4', 'h5'])
        await more.write(noteIntent(name, `b${name}`, 'x'));
      const rows = openNoteRows(again);
      await rows.catchUp();
      expect(rows.notes('hbefore')).toEqual(['before', 'x']);
      await expect(again.end(2)).rejects.toMatchObject({ code: 'E_LOG_MISMATCH' });
      await expect(open({ prefix, partitions: 5 })).rejects.toMatchObject({ code: 'E_LOG_MISMATCH' });
    },
  );

  it.each([
    ['is compacted', 'cleanup.policy', 'compact'],
    ['forgets by time', 'retention.ms', '1000000'],
    ['forgets by size', 'retention.bytes', '1000000'],
    ['takes small messages only', 'max.message.bytes', '1000'],
    ['is compressed in a way that is not read', 'compression.type', 'lz4'],
  ])('a topic that %s may not hold a log', async (_what, name, value) => {
    const prefix = newPrefix();
    await admin.createTopics({
      topics: [{ topic: `${prefix}.frames`, configEntries: [{ name, value }] }],
      waitForLeaders: true,
    });
    const refused = await open({ prefix, partitions: 1 }).catch((error: unknown) => error);
    expect(refused).toMatchObject({
      code: 'E_LOG_MISMATCH',
      message: expect.stringContaining(name) as string,
    });
  });

  it('opening a log that does not exist with create: false fails, and brokers that do not answer are named', async () => {
    await expect(open({ create: false })).rejects.toMatchObject({ code: 'E_LOG_NOT_FOUND' });
    const nobody = openKafkaLog({ brokers: ['127.0.0.1:1'], prefix: 'p', deadline: 200 });
    await expect(nobody).rejects.toMatchObject({
      code: 'E_BROKERS_UNREACHABLE',
      message: expect.stringContaining('127.0.0.1:1') as string,
    });
  });

  it(
    'closing returns at once, and an append that ends with E_LOG_CLOSED has written nothing',
    { tags: ['record§3:unknown-outcome'] },
    async () => {
      for (const turns of [0, 1, 2, 4, 8]) {
        const log = await open({ partitions: 1 });
        const end = await log.end(0);
        const waiting = log.wait(0, end, new AbortController().signal);
        const before = performance.now();
        const appending = log.append(0, [note(1)]).catch((error: unknown) => error);
        for (let turn = 0; turn < turns; turn++) await new Promise((resolve) => setImmediate(resolve));
        await log.close();
        await waiting;
        const outcome = await appending;
        expect(performance.now() - before).toBeLessThan(20_000);
        await expect(log.append(0, [note(1)])).rejects.toMatchObject({ code: 'E_LOG_CLOSED' });
        if (!isStemmaError(outcome, 'E_LOG_CLOSED')) continue;
        const again = await open({ prefix: log.facts.topic.replace(/\.frames$/, ''), partitions: 1 });
        expect(await again.end(0)).toBe(end);
      }
    },
  );

  it(
    'a waiting reader gets a new record within moments, and many frames of one history are sent in one batch',
    { tags: ['record§3:batches'] },
    async () => {
      const log = await open();
      const rows = openNoteRows(log);
      await rows.catchUp();
      const sends: number[] = [];
      const counted = {
        ...log,
        append: (partition: number, entries: Parameters<KafkaLog['append']>[1]) => {
          sends.push(entries.length);
          return log.append(partition, entries);
        },
      };
      const writer = openWriter(counted, {
        domain: rows.domain,
        contents: NO_CONTENTS,
        random: () => 0.5,
        now: () => performance.now(),
        sleep: (milliseconds) => new Promise((resolve) => setTimeout(resolve, milliseconds)),
      });
      await Promise.all(
        Array.from({ length: 200 }, (_, i) => writer.write(noteIntent('hone', `c${i}`, `note ${i}`))),
      );
      expect(sends.length).toBeLessThan(50);
    },
  );

  it('a process that waits for records uses almost no processor time and prints no warning', async () => {
    const log = await open();
    const child = spawn(process.execPath, [
      join(import.meta.dirname, 'children/idle.ts'),
      brokers.join(),
      log.facts.topic.replace(/\.frames$/, ''),
      '0.03',
    ]);
    let [output, errors] = ['', ''];
    child.stdout.on('data', (data: Buffer) => (output += data.toString()));
    child.stderr.on('data', (data: Buffer) => (errors += data.toString()));
    await once(child, 'close');
    expect(errors).toBe('');
    // kafkajs as it is takes 8 %.
    expect(Number(output)).toBeLessThan(0.04);
  });
});
