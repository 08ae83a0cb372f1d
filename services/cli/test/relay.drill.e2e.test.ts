import { openKafkaLog } from '@stemma/log-kafka';
import { findBroker, readTopic, type TopicRecord, sized } from '@stemma/test-kit';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { cpSync, existsSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { beforeEach, describe, expect, it, test } from 'vitest';
import { MAIN, runStemma, temporaryFolder } from './run-stemma.ts';
import { importIn } from './same-everywhere.ts';
import { transcripts } from './transcripts.ts';

const found = await findBroker();
const brokers = 'skip' in found ? [] : found.brokers;
const ROOT = join(import.meta.dirname, '../../..');
/** All of them with STEMMA_RELAY_TRANSCRIPTS=40. */
const MOST = Number(process.env['STEMMA_RELAY_TRANSCRIPTS'] ?? 3);
const files = [
  ...transcripts.slice(0, MOST).map(({ file }) => file),
  join(ROOT, 'samples/harbour-tram.chat.json'),
  join(ROOT, 'samples/slow-checkout.steps.jsonl'),
];
const newTopic = (): string => `relayed-${randomUUID()}`;
const toTopic = (topic: string): string => `kafka://${brokers.join(',')}/${topic}?partitions=3`;

type Env = Readonly<Record<string, string>>;
type Told = { readonly history: string; readonly seq: number; readonly index: number };

/** What `stemma log --json` says of every history, without the branch's name, which may change. */
const told = async (env: Env): Promise<ReadonlyMap<string, readonly Told[]>> => {
  const json = async (...args: string[]): Promise<unknown> => {
    const { code, stdout, stderr } = await runStemma([...args, '--json'], { env });
    if (code !== 0) throw new Error(stderr);
    return JSON.parse(stdout);
  };
  const histories = (await json('histories')) as { readonly history: string }[];
  const logs = new Map<string, readonly Told[]>();
  for (const { history } of histories) {
    const events = (await json('log', history)) as (Told & { readonly branch: string })[];
    logs.set(
      history,
      events.map(({ branch: _, ...rest }) => rest),
    );
  }
  return logs;
};

/** Records by their history, repeats left out, which must be the same to the last byte. */
const arrived = (records: readonly TopicRecord[]): { logs: Map<string, Told[]>; repeats: number } => {
  const first = new Map<string, string>();
  const logs = new Map<string, Told[]>();
  let repeats = 0;
  for (const { key, value, headers, partition } of records) {
    const place = [key, headers['seq'], headers['index']].join();
    const bytes = JSON.stringify([value, headers, partition]);
    if (first.has(place)) {
      expect(bytes).toBe(first.get(place));
      repeats++;
      continue;
    }
    first.set(place, bytes);
    const { type, version, count, ...event } = JSON.parse(value) as Told & Readonly<Record<string, unknown>>;
    expect(headers).toMatchObject({
      type,
      version: String(version),
      count: String(count),
      history: event.history,
      seq: String(event.seq),
      index: String(event.index),
    });
    logs.set(key, [...(logs.get(key) ?? []), event]);
  }
  return { logs, repeats };
};

/** The places that a relay has noted, whatever they are. */
const placesIn = (folder: string): string => {
  if (!existsSync(folder)) return '';
  return readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.json'))
    .map((name) => readFileSync(join(folder, name), 'utf8'))
    .join();
};

/** Appends what no reader takes: frames once more, and a damaged record behind each partition's first history. */
const spoil = async (prefix: string): Promise<void> => {
  const log = await openKafkaLog({ brokers, prefix, create: false });
  for (let partition = 0; partition < log.partitions; partition++) {
    const { records } = await log.read(partition, 1);
    const again = records.slice(0, 5).map(({ key, bytes }) => ({ key: key ?? '', bytes }));
    const [first] = again;
    if (first === undefined) continue;
    const damaged = first.bytes.map((byte, i) => (i === first.bytes.length - 40 ? byte ^ 1 : byte));
    await log.append(partition, [...again, { key: first.key, bytes: damaged }, ...again]);
  }
  await log.close();
};

/** Runs a relay until its status says that nothing is left, and ends it as a supervisor would. */
const relayToEnd = async (args: readonly string[], env: Env): Promise<void> => {
  const child = spawn(process.execPath, [MAIN, ...args], {
    env: { ...process.env, ...env },
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  const ended = once(child, 'exit');
  try {
    let errors = '';
    child.stderr.on('data', (data: Buffer) => (errors += data.toString()));
    for (const late = Date.now() + 120_000; ;) {
      await sleep(100);
      if (Date.now() > late || child.exitCode !== null) throw new Error(`it did not get there: ${errors}`);
      const url = /http:\/\/\S+/.exec(errors)?.[0];
      if (url === undefined || !(await fetch(`${url}/health/ready`)).ok) continue;
      const metrics = await (await fetch(`${url}/metrics`)).text();
      const lags = [...metrics.matchAll(/^stemma_relay_lag_records\{.*\} (\d+)$/gm)].map(([, lag]) => lag);
      if (lags.length === 3 && lags.every((lag) => lag === '0')) break;
    }
    child.kill('SIGTERM');
    // Something is held back: what is damaged.
    expect(await ended).toEqual([5, null]);
  } finally {
    child.kill('SIGKILL');
  }
};

const ajv = new Ajv2020({ allowUnionTypes: true });
const SCHEMAS = join(ROOT, 'docs/events/schemas');
for (const name of readdirSync(SCHEMAS))
  ajv.addSchema(JSON.parse(readFileSync(join(SCHEMAS, name), 'utf8')) as object);

describe('stemma relay', () => {
  beforeEach(({ skip }) => {
    if ('skip' in found) skip(found.skip);
  });

  it('publishes the embedded log exactly as `stemma log --json` prints it, by the published schema, and later only new records', async () => {
    using folder = temporaryFolder();
    const env = { STEMMA_HOME: join(folder.path, 'home') };
    await importIn([env.STEMMA_HOME], '', files);
    const topic = newTopic();
    const relay = async (...args: string[]): Promise<unknown> => {
      const { code, stdout, stderr } = await runStemma(
        ['relay', '--once', '--to', toTopic(topic), '--json', ...args],
        { env },
      );
      expect(stderr).toBe('');
      expect(code).toBe(0);
      return JSON.parse(stdout);
    };
    const first = (await relay()) as { readonly events: number };
    const records = await readTopic(brokers, topic);
    expect(records.length).toBe(first.events);
    expect(arrived(records)).toEqual({ logs: await told(env), repeats: 0 });
    for (const { value } of records) {
      ajv.validate('record.json', JSON.parse(value));
      expect(ajv.errors).toBeNull();
    }
    expect(await relay()).toMatchObject({ events: 0, held: [], closed: [] });
    expect((await runStemma(['insert', 'tram', '--content', 'one more'], { env })).code).toBe(1);
    const [history = ''] = (await told(env)).keys();
    expect((await runStemma(['insert', history, '--content', 'one more'], { env })).code).toBe(0);
    expect(await relay()).not.toMatchObject({ events: 0 });
    expect(arrived(await readTopic(brokers, topic))).toEqual({ logs: await told(env), repeats: 0 });

    // Rows may go at any time; a place that is gone only brings repeats.
    rmSync(join(env.STEMMA_HOME, 'relay/rows'), { recursive: true });
    expect(await relay()).toMatchObject({ events: 0 });
    rmSync(join(env.STEMMA_HOME, 'relay'), { recursive: true });
    await relay();
    const twice = arrived(await readTopic(brokers, topic));
    expect(twice.logs).toEqual(await told(env));
    expect(twice.repeats).toBe([...twice.logs.values()].flat().length);

    // A place is of one log; what stands in the topic of another is not taken for published.
    const other = { STEMMA_HOME: join(folder.path, 'other') };
    await importIn([other.STEMMA_HOME], '', files.slice(-1));
    cpSync(join(env.STEMMA_HOME, 'relay'), join(other.STEMMA_HOME, 'relay'), { recursive: true });
    const once = (...args: string[]): ReturnType<typeof runStemma> =>
      runStemma(['relay', '--once', '--to', toTopic(topic), ...args], { env: other });
    expect(await once()).toMatchObject({
      code: 5,
      stderr: expect.stringContaining('E_CURSOR_LOST') as string,
    });
    expect(await once('--again')).toMatchObject({ code: 0 });
    expect(await once()).toMatchObject({ code: 0, stdout: expect.stringContaining('0 events') as string });
    expect((await runStemma(['relay', '--to', toTopic('x.frames')], { env: other })).code).toBe(64);
  }, 300_000);

  it(
    'killed repeatedly while others write to Kafka, leaves nothing out, keeps the order of each history, and publishes neither stale nor damaged frames',
    { tags: ['record§2:stale', 'record§2:damaged'], timeout: 600_000 },
    async () => {
      using folder = temporaryFolder();
      const prefix = `relay-${randomUUID()}`;
      const env = {
        STEMMA_HOME: join(folder.path, 'home'),
        STEMMA_LOG: `kafka://${brokers.join(',')}/${prefix}`,
      };
      await (await openKafkaLog({ brokers, prefix, partitions: 3 })).close();
      const topic = newTopic();
      const args = ['relay', '--to', toTopic(topic)];
      let importing = true;
      const isImporting = (): boolean => importing;
      const writing = (async () => {
        for (let turn = 0; turn < sized(1, 2); turn++)
          for (const file of files) {
            const copies = ['--history', `copy-${turn}-${files.indexOf(file)}`];
            const { code, stderr } = await runStemma(['import', file, ...copies], { env });
            if (code !== 0) throw new Error(stderr);
          }
      })().finally(() => (importing = false));
      const noted = (): string => placesIn(join(env.STEMMA_HOME, 'relay'));
      for (let kills = 0; kills < sized(2, 4) || (isImporting() && kills < 10); kills++) {
        const before = noted();
        const child = spawn(process.execPath, [MAIN, ...args], {
          env: { ...process.env, ...env },
          stdio: 'ignore',
        });
        const ended = once(child, 'exit');
        // Once it has published something, it is in the middle of the next.
        for (const late = Date.now() + 20_000; noted() === before && Date.now() < late;) {
          if (!isImporting()) break;
          await sleep(20);
        }
        child.kill('SIGKILL');
        await ended;
      }
      await writing;
      await spoil(prefix);
      await relayToEnd([...args, '--status-port', '0'], env);
      const { logs } = arrived(await readTopic(brokers, topic));
      const expected = await told(env);
      expect(expected.size).toBe(files.length * sized(1, 2));
      expect(logs).toEqual(expected);
    },
  );
});

test('relay without a topic, or with a missing home, ends with an error that names it', async () => {
  using folder = temporaryFolder();
  const env = { STEMMA_HOME: join(folder.path, 'home') };
  expect(await runStemma(['relay'], { env })).toMatchObject({ code: 64 });
  expect(await runStemma(['relay', '--to', 'kafka://127.0.0.1:1/x'], { env })).toMatchObject({
    code: 1,
    stderr: expect.stringContaining('E_HOME_NOT_FOUND') as string,
  });
});
