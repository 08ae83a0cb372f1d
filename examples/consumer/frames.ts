import { openDirectoryContents } from '@stemma/contents';
import {
  checkRecords,
  cursorAtStart,
  freshPartition,
  openRecords,
  readFrame,
  type Checkpoint,
  type HeadState,
} from '@stemma/log';
import kafkajs from 'kafkajs';
import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import { teachZstd } from './zstd.ts';

/*
 * Reads the frames of a log with the plain client, checks every record, and prints the accepted events. Heads and the
 * checkpoint are all that the check needs; here they live in memory, so that it begins anew each time.
 * Arguments: brokers (HOST:PORT,…), the log's prefix, and a home for large contents (default ./.stemma).
 */
const [brokers = '127.0.0.1:9092', prefix = 'stemma', home = '.stemma'] = process.argv.slice(2);
const topic = `${prefix}.frames`;
teachZstd();
const kafka = new kafkajs.Kafka({ brokers: brokers.split(','), logLevel: kafkajs.logLevel.ERROR });
const contents = await openDirectoryContents(join(home, 'contents'));

const admin = kafka.admin();
await admin.connect();
const partitions = (await admin.fetchTopicMetadata({ topics: [topic] })).topics[0]?.partitions.length ?? 1;
await admin.disconnect();

const heads = new Map<string, HeadState>();
const checkpoints = Array.from({ length: partitions }, (_, partition): Checkpoint => ({
  cursor: cursorAtStart(topic, partition),
  state: freshPartition(partition, partitions),
}));

// An open transaction would hide the acknowledged frames after it: `readUncommitted`.
const consumer = kafka.consumer({ groupId: randomUUID(), readUncommitted: true, maxWaitTimeInMs: 250 });
await consumer.connect();
await consumer.subscribe({ topic, fromBeginning: true });
await consumer.run({
  autoCommit: false,
  eachBatch: async ({ batch: { partition, messages } }) => {
    const records = messages.map(({ offset, key, value }) => ({
      offset: Number(offset),
      next: Number(offset) + 1,
      key: key === null ? null : key.toString(),
      bytes: value ?? new Uint8Array(),
      keyVouched: true,
      damaged: false,
    }));
    const checkpoint = checkpoints[partition];
    // Behind a record that may be anybody's nothing is read: a real reader waits for its acknowledgement
    // (readPartition).
    if (
      checkpoint === undefined ||
      checkpoint.state.damage.some(({ affectsWholePartition }) => affectsWholePartition)
    )
      return;
    const checked = checkRecords(openRecords(records).opened, checkpoint, heads);
    for (const [history, head] of checked.heads) heads.set(history, head);
    checkpoints[partition] = checked.checkpoint;
    for (const frame of checked.accepted) {
      if (frame.control) continue;
      const { envelope, body } = await readFrame(frame, contents);
      for (const [index, { type }] of body.events.entries())
        console.log(JSON.stringify({ history: envelope.history, seq: envelope.seq, index, type }));
    }
  },
});
