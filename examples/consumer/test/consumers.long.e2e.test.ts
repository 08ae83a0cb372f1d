import { openHome } from '@stemma/home';
import { runRelay } from '@stemma/relay';
import { findBroker, findPostgres, freshDatabase, programFile } from '@stemma/test-kit';
import { spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { existsSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';

const found = await findBroker();
const brokers = 'skip' in found ? '' : found.brokers.join(',');
const ROOT = join(import.meta.dirname, '../../..');
const FOLDER = process.env['STEMMA_TRANSCRIPTS'] ?? join(ROOT, '../shared/data/tau-airline');
const recorded = existsSync(FOLDER)
  ? readdirSync(FOLDER)
      .filter((name) => name.endsWith('.json'))
      .slice(0, 2)
      .map((name) => join(FOLDER, name))
  : [];
const files = [...recorded, join(ROOT, 'samples/harbour-tram.chat.json')];

const directory = mkdtempSync(join(tmpdir(), 'stemma-consumers-'));
const prefix = `consumers-${randomUUID()}`;
const log = `kafka://${brokers}/${prefix}?partitions=2`;
const env = { ...process.env, STEMMA_HOME: directory, STEMMA_LOG: log };

type Event = {
  readonly history: string;
  readonly seq: number;
  readonly index: number;
  readonly type: string;
};
let expected: readonly Event[] = [];
/** By history and cycle: how many tool results came, and how many characters they have. */
const tools = new Map<string, { results: number; characters: number }>();

/** Runs a program until it has printed so many lines, or to its end, and gives them. */
const linesOf = async (args: readonly string[], lines = Infinity): Promise<readonly string[]> => {
  const child = spawn(process.execPath, args, { env, cwd: ROOT });
  let [output, errors] = ['', ''];
  child.stdout.on('data', (data: Buffer) => (output += data.toString()));
  child.stderr.on('data', (data: Buffer) => (errors += data.toString()));
  let ended = false;
  const end = once(child, 'close').then(() => (ended = true));
  const isEnded = (): boolean => ended;
  try {
    for (const late = Date.now() + 120_000; !isEnded() && output.split('\n').length <= lines;) {
      if (Date.now() > late) throw new Error(`it printed too little: ${errors}`);
      await sleep(50);
    }
    if (isEnded() && child.exitCode !== 0) throw new Error(errors);
    return output.split('\n').filter((line) => line !== '');
  } finally {
    child.kill('SIGKILL');
    await end;
  }
};

const byHistory = (events: readonly Event[]): ReadonlyMap<string, readonly Event[]> => {
  const histories = new Map<string, Event[]>();
  for (const event of events) histories.set(event.history, [...(histories.get(event.history) ?? []), event]);
  return histories;
};
const parsed = (lines: readonly string[]): readonly Event[] => lines.map((line) => JSON.parse(line) as Event);

beforeAll(async () => {
  if ('skip' in found) return;
  for (const [i, file] of files.entries())
    await linesOf([programFile('stemma'), 'import', file, '--history', `h${i}`]);
  const home = await openHome({ directory, log });
  const events: Event[] = [];
  for (const { history } of await home.read.histories())
    for (const { seq, index, event } of await home.read.events(history)) {
      events.push({ history, seq, index, type: event.type });
      if (event.type !== 'NodeInserted' || event.node.role !== 'tool') continue;
      const content = event.node['content'];
      const key = `${history}@c${event.node.cycle}`;
      const { results, characters } = tools.get(key) ?? { results: 0, characters: 0 };
      const length = typeof content === 'string' ? content.length : JSON.stringify(content ?? null).length;
      tools.set(key, { results: results + 1, characters: characters + length });
    }
  await home.close();
  expected = events;
}, 300_000);
afterAll(() => {
  rmSync(directory, { recursive: true, force: true });
});

describe('the examples of consumers', () => {
  beforeEach(({ skip }) => {
    if ('skip' in found) skip(found.skip);
  });

  it('a read model of one’s own is folded by the projector, and folding again changes nothing', async () => {
    for (let time = 0; time < 2; time++) {
      const lines = await linesOf(['examples/consumer/run-read-model.ts']);
      const rows = lines.map((line) => JSON.parse(line) as Record<string, string | number>);
      expect(
        new Map(
          rows.map(({ history, cycle, results, characters }) => [
            `${String(history)}@c${String(cycle)}`,
            { results, characters },
          ]),
        ),
      ).toEqual(tools);
    }
    if (recorded.length > 0) expect(tools.size).toBeGreaterThan(3);
  });

  it('a read model of one’s own is run by the projector service, and its rows answer SQL', async ({
    skip,
  }) => {
    const postgres = await findPostgres();
    if ('skip' in postgres) return skip(postgres.skip);
    const { url, drop } = await freshDatabase(postgres.url);
    const child = spawn(
      process.execPath,
      ['services/projector/src/main.ts', '--read-model', 'examples/consumer/tool-results.ts'],
      { env: { ...env, STEMMA_ROWS: url }, cwd: ROOT, stdio: 'ignore' },
    );
    const ended = once(child, 'close');
    try {
      const client = new pg.Client({ connectionString: url });
      await client.connect();
      let rows = new Map<string, unknown>();
      for (const late = Date.now() + 120_000; rows.size < tools.size && Date.now() < late;) {
        await sleep(100);
        const answer = await client
          .query<Record<string, string>>('select * from stemma.tool_results')
          .catch(() => ({ rows: [] }));
        rows = new Map(
          answer.rows.map(({ history, cycle, results, characters }) => [
            `${history ?? ''}@c${cycle ?? ''}`,
            { results: Number(results), characters: Number(characters) },
          ]),
        );
      }
      await client.end();
      expect(rows).toEqual(tools);
    } finally {
      child.kill('SIGKILL');
      await ended;
      await drop();
    }
  });

  it('a plain consumer sees every accepted event through the codec and the check of records', async () => {
    const lines = await linesOf(['examples/consumer/frames.ts', brokers, prefix, directory], expected.length);
    expect(byHistory(parsed(lines))).toEqual(byHistory(expected));
  });

  it('a consumer of the relayed events processes each event once, even when the relay sends it again', async () => {
    const topic = `relayed-${randomUUID()}`;
    for (const again of [false, true])
      await runRelay({
        directory,
        log,
        to: `kafka://${brokers}/${topic}?partitions=2`,
        once: true,
        fromStart: again,
        signal: new AbortController().signal,
        say: () => undefined,
      });
    const lines = await linesOf(
      ['examples/consumer/relayed.ts', brokers, topic, `group-${topic}`],
      expected.length,
    );
    expect(byHistory(parsed(lines))).toEqual(byHistory(expected));
  });
});
