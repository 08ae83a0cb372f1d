import { noteIntent, seeded } from '@stemma/log/contract';
import {
  countAnomalies,
  freePorts,
  missingTools,
  NO_ANOMALIES,
  onlyLong,
  type Operation,
  sized,
} from '@stemma/test-kit';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { openKafkaLog } from '../src/index.ts';
import {
  judge,
  newPrefix,
  noteWriter,
  openProxy,
  ownBrokers,
  type OwnBrokers,
  startNotes,
  startReader,
  until,
} from './fault-kit.ts';

const missing = missingTools();
const KILLS = Number(process.env['STEMMA_KAFKA_KILLS'] ?? sized(1, 10));
/** So many writes are acknowledged before a fault, and during it. */
const MORE = sized(20, 100);
const HISTORIES = ['hshared', 'ha', 'hb', 'hc'];

describe('faults of a broker', () => {
  let own: OwnBrokers;
  let proxied = 0;
  let behindProxy = 0;
  beforeAll(async () => {
    if (missing !== undefined) return;
    ({ broker: proxied, controller: behindProxy } = await freePorts());
    // One listener for whoever comes directly, and one that sends everybody to the proxy.
    own = await ownBrokers(1, ({ broker, controller }) => ({
      listeners: `PLAINTEXT://127.0.0.1:${broker},PROXIED://127.0.0.1:${behindProxy},CONTROLLER://127.0.0.1:${controller}`,
      'advertised.listeners': `PLAINTEXT://127.0.0.1:${broker},PROXIED://127.0.0.1:${proxied}`,
      'listener.security.protocol.map': 'PLAINTEXT:PLAINTEXT,PROXIED:PLAINTEXT,CONTROLLER:PLAINTEXT',
    }));
  });
  afterAll(async () => {
    if (missing === undefined) await own[Symbol.asyncDispose]();
  });
  beforeEach(({ skip }) => {
    if (missing !== undefined) skip(missing);
  });

  it(
    'an append whose answer is lost has one effect',
    { tags: ['record§3:unknown-outcome'], timeout: 600_000 },
    async () => {
      const random = seeded(7);
      let chance = 0;
      const proxy = await openProxy(proxied, behindProxy, () => random() < chance);
      const brokers = [`127.0.0.1:${proxied}`];
      const prefix = newPrefix();
      const logs = await Promise.all([1, 2].map(() => openKafkaLog({ brokers, prefix, partitions: 2 })));
      const writers = await Promise.all(logs.map((log) => noteWriter(log)));
      chance = 0.05;
      const writes: Operation[] = [];
      await Promise.all(
        writers.flatMap((writer, w) =>
          ['hshared', w === 0 ? 'ha' : 'hb'].map(async (history) => {
            for (let i = 0; i < sized(30, 60); i++) {
              const value = `${w}-${history}-${i}`;
              const write = { kind: 'write', process: String(w), history, value } as const;
              const answer = await writer.write(noteIntent(history, value, value)).catch(() => undefined);
              writes.push(
                answer ? { ...write, outcome: 'ok', seq: answer.seq } : { ...write, outcome: 'unknown' },
              );
            }
          }),
        ),
      );
      chance = 0;
      const [log] = logs;
      if (!log) throw new Error('no log');
      const anomalies = await judge(log, writes, [], ['hshared', 'ha', 'hb']);
      expect(countAnomalies(anomalies)).toEqual(NO_ANOMALIES);
      expect(proxy.cut()).toBeGreaterThan(5);
      for (const each of logs) await each.close();
      await proxy.close();
    },
  );

  it(
    'a writer that is stopped in the middle while another goes on decides again when it wakes up',
    { tags: ['record§2:stale', 'record§3:outcome'], timeout: 600_000 },
    async () => {
      const prefix = newPrefix();
      const log = await openKafkaLog({ brokers: own.addresses, prefix, partitions: 1, deadline: 240_000 });
      const [a, b] = [startNotes(own.addresses, prefix, 'a'), startNotes(own.addresses, prefix, 'b')];
      for (let stop = 0; stop < sized(1, 5); stop++) {
        const before = a.writes().length;
        await until('a to write', () => a.writes().length > before);
        a.process.kill('SIGSTOP');
        const alone = b.writes().length;
        await until('b to go on', () => b.writes().length > alone + 20);
        a.process.kill('SIGCONT');
      }
      await Promise.all([a.finish(), b.finish()]);
      const anomalies = await judge(log, [...a.writes(), ...b.writes()], [], HISTORIES);
      expect(countAnomalies(anomalies)).toEqual(NO_ANOMALIES);
      await log.close();
    },
  );

  it(
    `when the broker is killed ${KILLS} times while three processes write, no acknowledged command is lost or applied twice`,
    { tags: ['record§3:unknown-outcome', 'record§3:commands-remembered'], timeout: 600_000 },
    async () => {
      const [broker] = own.brokers;
      if (!broker) throw new Error('no broker');
      const prefix = newPrefix();
      const log = await openKafkaLog({ brokers: own.addresses, prefix, partitions: 2, deadline: 240_000 });
      const reader = startReader(log, 'reader', HISTORIES);
      const processes = ['a', 'b', 'c'].map((name) => startNotes(own.addresses, prefix, name));
      for (let kill = 0; kill < KILLS; kill++) {
        const before = processes.map(({ writes }) => writes().length);
        await until('every process to write', () =>
          processes.every(({ writes }, i) => writes().length > (before[i] ?? 0) + 8),
        );
        await broker.stop('SIGKILL');
        await broker.start();
      }
      await Promise.all(processes.map(({ finish }) => finish()));
      const writes = processes.flatMap((each) => each.writes());
      const anomalies = await judge(log, writes, await reader.finish(), HISTORIES);
      expect(countAnomalies(anomalies)).toEqual(NO_ANOMALIES);
      expect(writes.length).toBeGreaterThan(KILLS * 24);
      expect(writes.filter((write) => write.kind === 'write' && write.outcome !== 'ok')).toEqual([]);
      await log.close();
    },
  );
});

describe('faults of one of three brokers', () => {
  let own: OwnBrokers;
  const why = missing ?? onlyLong('three brokers of its own take half a minute');
  beforeAll(async () => {
    if (why === undefined) own = await ownBrokers(3);
  });
  afterAll(async () => {
    if (why === undefined) await own[Symbol.asyncDispose]();
  });
  beforeEach(({ skip }) => {
    if (why !== undefined) skip(why);
  });

  it('a reader of a partition learns of new records within moments, whichever broker leads it, and whichever address opened the log', async () => {
    const prefix = newPrefix();
    const options = { prefix, partitions: 3, deadline: 60_000, waits: { longest: 1_000 } };
    const log = await openKafkaLog({ ...options, brokers: own.addresses });
    for (const broker of own.brokers.slice(0, 1)) {
      const follower = await openKafkaLog({ ...options, brokers: own.addresses });
      /** Milliseconds from an append being acknowledged to whoever follows having seen it. */
      const follow = async (partition: number): Promise<number> => {
        const never = new AbortController().signal;
        const from = await follower.end(partition);
        const seen = async (): Promise<void> => {
          do await follower.wait(partition, from, never);
          while ((await follower.end(partition)) <= from);
        };
        const waiting = seen();
        await log.append(partition, [{ key: 'h', bytes: new Uint8Array(100) }]);
        const begun = performance.now();
        await waiting;
        return performance.now() - begun;
      };
      await Promise.all([0, 1, 2].map(follow));
      await broker.stop('SIGKILL');
      // Many times as long as waiting for anybody takes, whatever the brokers say; a machine may be slow.
      for (const moment of await Promise.all([0, 1, 2].map(follow))) expect(moment).toBeLessThan(15_000);
      const without = await openKafkaLog({ ...options, brokers: own.addresses });
      expect(without.id).toBe(log.id);
      await without.close();
      await broker.start();
      await follower.close();
    }
    await log.close();
  }, 600_000);

  it(
    'when the leader changes, a log with two replicas in sync keeps its end; the offset in an answer is the one that a read gives',
    { tags: ['record§3:known-without-reading'], timeout: 600_000 },
    async () => {
      const prefix = newPrefix();
      const log = await openKafkaLog({ brokers: own.addresses, prefix, partitions: 3, deadline: 240_000 });
      expect(log.facts).toMatchObject({ replicas: 3, minInSync: 2, uncleanElection: false });
      expect(log.keepsItsEnd).toBe(true);
      const reader = startReader(log, 'reader', ['hshared', 'ha', 'hb']);
      const trusting = await noteWriter(log);
      const reading = await noteWriter({ ...log, keepsItsEnd: false });
      const writes: Operation[] = [];
      let going = true;
      const running = [trusting, reading].map(async (writer, w) => {
        for (let i = 0; going; i++)
          await Promise.all(
            ['hshared', w === 0 ? 'ha' : 'hb'].map(async (history) => {
              const value = `${w}-${history}-${i}`;
              const { seq } = await writer.write(noteIntent(history, value, value));
              writes.push({ kind: 'write', process: String(w), history, value, outcome: 'ok', seq });
            }),
          );
      });
      for (const broker of own.brokers.slice(0, sized(1, 2))) {
        const before = writes.length;
        await until('writes', () => writes.length > before + MORE);
        await broker.stop('SIGKILL');
        const without = writes.length;
        await until('writes without it', () => writes.length > without + MORE);
        await broker.start();
      }
      going = false;
      await Promise.all(running);
      const anomalies = await judge(log, writes, await reader.finish(), ['hshared', 'ha', 'hb']);
      expect(countAnomalies(anomalies)).toEqual(NO_ANOMALIES);
      await log.close();
    },
  );
});
