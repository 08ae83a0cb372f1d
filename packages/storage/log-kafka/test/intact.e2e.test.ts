import { isStemmaError } from '@stemma/errors';
import { noteIntent, openNoteRows, type Note } from '@stemma/log/contract';
import type { Writer } from '@stemma/log';
import { findBroker } from '@stemma/test-kit';
import kafkajs from 'kafkajs';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { openKafkaLog, type KafkaLog, type KafkaLogOptions } from '../src/index.ts';
import { newPrefix, noteWriter } from './fault-kit.ts';

const found = await findBroker();
const brokers = 'skip' in found ? [] : found.brokers;

/* What somebody does to the topic while it is written to. */
describe('a topic that no longer keeps the log', () => {
  beforeEach(({ skip }) => {
    if ('skip' in found) skip(found.skip);
  });
  const opened: KafkaLog[] = [];
  const open = async (options: Partial<KafkaLogOptions> = {}): Promise<KafkaLog> => {
    const log = await openKafkaLog({ brokers, prefix: newPrefix(), partitions: 2, ...options });
    opened.push(log);
    return log;
  };
  const admin = new kafkajs.Kafka({
    brokers: brokers.length > 0 ? [...brokers] : ['nowhere:1'],
    logLevel: kafkajs.logLevel.NOTHING,
  }).admin();
  beforeAll(async () => {
    if (brokers.length > 0) await admin.connect();
  });
  afterAll(async () => {
    await admin.disconnect();
    for (const log of opened) await log.close();
  });

  /** A writer that has written a note to each of some histories; those of `hx0` and `hx1` are in both partitions. */
  const begin = async (log: KafkaLog): Promise<Writer<Note>> => {
    const writer = await noteWriter(log);
    for (let i = 0; i < 8; i++) await writer.write(noteIntent(`hx${i}`, 'first', 'first'));
    return writer;
  };
  /** Sets one of the topic's settings; as Kafka has it, those that are not named go back to their defaults. */
  const set = (topic: string, name: string, value: string) =>
    admin.alterConfigs({
      validateOnly: false,
      resources: [
        {
          type: kafkajs.ConfigResourceTypes.TOPIC,
          name: topic,
          configEntries: [...settings.filter((each) => each.name !== name), { name, value }],
        },
      ],
    });
  /**
   * What the writer answers to a command, when the brokers have told of it. What was on its way at that moment may be in the log:
   * that it was not is not claimed.
   */
  const refusal = async (writer: Writer<Note>): Promise<unknown> => {
    for (const until = Date.now() + 30_000; ;) {
      const answer = await writer
        .write(noteIntent('hx0', `more-${Math.random()}`, 'more'))
        .catch((error: unknown) => error);
      if (isStemmaError(answer, 'E_LOG_MISMATCH') || Date.now() > until) return answer;
    }
  };
  const mismatch = (...words: readonly string[]) => ({
    code: 'E_LOG_MISMATCH',
    message: expect.stringMatching(words.join('.*')) as string,
  });

  it.each([
    ['compaction is switched on', 'cleanup.policy', 'compact'],
    ['its records are to be forgotten by time', 'retention.ms', '600000'],
    ['its records are to be forgotten by size', 'retention.bytes', '100000000'],
  ])(
    'once %s, a running writer refuses commands and says which setting it is, until it is set back',
    { tags: ['record§3:intact-log'] },
    async (_what, name, value) => {
      const log = await open();
      const writer = await begin(log);
      await set(log.facts.topic, name, value);
      expect(await refusal(writer)).toMatchObject(mismatch(name, value));
      const rows = openNoteRows(log);
      await rows.catchUp();
      expect(rows.notes('hx7')).toEqual(['first']);
      await set(log.facts.topic, name, name === 'cleanup.policy' ? 'delete' : '-1');
      const accepted = (): Promise<boolean> =>
        writer.write(noteIntent('hx1', 'back', 'back')).then(
          () => true,
          () => false,
        );
      await expect.poll(accepted, { timeout: 30_000 }).toBe(true);
    },
  );

  it.each([
    ['the partition that is written to', true],
    ['another partition', false],
  ])(
    'once %s has lost its beginning, a running writer acknowledges nothing more, and no command that it refused is answered as accepted',
    { tags: ['record§3:intact-log'] },
    async (_which, own) => {
      const log = await open();
      const writer = await begin(log);
      const { partition } = await writer.write(noteIntent('hx0', 'second', 'second'));
      await admin.fetchTopicMetadata({ topics: [log.facts.topic] });
      // Somebody writes all the while.
      let acknowledged = 0;
      let going = true;
      const load = (async () => {
        for (let i = 0; going; i++)
          await writer.write(noteIntent('hx1', `load-${i}`, 'load')).then(
            () => acknowledged++,
            () => undefined,
          );
      })();
      const cut = own ? partition : 1 - partition;
      await admin.deleteTopicRecords({
        topic: log.facts.topic,
        partitions: [{ partition: cut, offset: '1' }],
      });
      expect(await refusal(writer)).toMatchObject(mismatch(`partition ${cut}`, 'before 1'));
      const before = acknowledged;
      const again = noteIntent('hx0', 'once', 'once');
      for (let i = 0; i < 3; i++)
        await expect(writer.write(again)).rejects.toMatchObject(mismatch(`partition ${cut}`));
      going = false;
      await load;
      expect(acknowledged).toBe(before);
      await expect(log.append(1 - cut, [{ key: 'h', bytes: new Uint8Array(40) }])).rejects.toMatchObject(
        mismatch(`partition ${cut}`),
      );
      const prefix = log.facts.topic.replace(/\.frames$/, '');
      await expect(open({ prefix })).rejects.toMatchObject(mismatch(`partition ${cut}`));
    },
  );

  it.each([
    ['made again empty', 0],
    ['made again with as many records of another log', 1],
    ['made again by another log', 2],
  ])(
    'once the topic was deleted and %s, a running writer acknowledges nothing',
    { tags: ['record§3:intact-log', 'record§5:log-id'] },
    async (_what, filled) => {
      const prefix = newPrefix();
      const log = await open({ prefix });
      const writer = await begin(log);
      const ends = await Promise.all([log.end(0), log.end(1)]);
      await admin.deleteTopics({ topics: [log.facts.topic] });
      if (filled === 0) {
        const topic = { topic: log.facts.topic, numPartitions: 2, configEntries: settings };
        await expect
          .poll(() => admin.createTopics({ topics: [topic], waitForLeaders: true }).catch(() => false), {
            timeout: 60_000,
          })
          .toBe(true);
      } else {
        let again: KafkaLog | undefined;
        // A broker may give the old topic for a moment after it has said that it is deleted.
        for (const until = Date.now() + 60_000; again === undefined && Date.now() < until;) {
          const opened = await open({ prefix }).catch(() => undefined);
          if (opened?.id !== log.id) again = opened;
        }
        if (again === undefined) throw new Error('the topic was not made again');
        for (const partition of filled === 1 ? [0, 1] : [])
          for (let end = await again.end(partition); end < (ends[partition] ?? 0); end++)
            await again.append(partition, [{ key: 'h', bytes: new Uint8Array(40) }]);
      }
      const late = noteIntent('hx0', 'late', 'late');
      const answers: unknown[] = [];
      const answered = async (): Promise<unknown> => {
        const answer: unknown = await writer.write(late).then(
          () => 'acknowledged',
          (error: unknown) => error,
        );
        answers.push(answer);
        return answer;
      };
      // Brokers that do not know the new topic yet leave the command without an outcome: that is no acknowledgement either.
      await expect.poll(answered, { timeout: 30_000 }).toMatchObject(mismatch('made again'));
      expect(await answered()).toMatchObject(mismatch('made again'));
      expect(answers).not.toContain('acknowledged');
    },
  );

  it(
    'once partitions are added, a running writer goes on, and who opens the log later reads all of it',
    { tags: ['record§5:partition'] },
    async () => {
      const prefix = newPrefix();
      const log = await open({ prefix });
      const writer = await begin(log);
      await admin.createPartitions({ topicPartitions: [{ topic: log.facts.topic, count: 5 }] });
      for (let i = 0; i < 20; i++) await writer.write(noteIntent(`hx${i % 8}`, `second-${i}`, 'second'));
      const late = openNoteRows(await open({ prefix }));
      await late.catchUp();
      expect(late.notes('hx0')).toEqual(['first', 'second', 'second', 'second']);
    },
  );
});

const settings = Object.entries({ 'retention.ms': '-1', 'retention.bytes': '-1' }).map(([name, value]) => ({
  name,
  value,
}));
