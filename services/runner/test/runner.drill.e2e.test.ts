import { openHome, type Home } from '@stemma/home';
import { openKafkaLog } from '@stemma/log-kafka';
import { requestRun, runPool, startPool, viewPool, viewRuns } from '@stemma/pools';
import { findBroker, findPostgres, freshDatabase, programFile, sized } from '@stemma/test-kit';
import { spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it } from 'vitest';

/** A round takes ten milliseconds here: enough of them for a test to see a runner at work. */
const ROUNDS_HERE = sized(60, 200);
const ROUNDS_APART = sized(5, 10);
const SOON = { timeout: 100_000, interval: 100 };

const SEEDS = [
  'The sea keeps what it is given.',
  'Nobody counts the stones at night.',
  'A door that is open is not yet a way.',
  'Who samples the sampler?',
];

/** A service of its own process, which is killed at the end of its block. */
const startService = (
  program: 'runner' | 'projector',
  args: readonly string[],
  env: Readonly<Record<string, string>>,
) => {
  const child = spawn(process.execPath, [programFile(program), ...args], {
    env: { ...process.env, STEMMA_MINDS: 'offline', ...env },
    stdio: ['ignore', 'inherit', 'inherit'],
  });
  return {
    signal: (signal: NodeJS.Signals) => void child.kill(signal),
    [Symbol.asyncDispose]: async () => {
      if (child.exitCode !== null || child.signalCode !== null) return;
      child.kill('SIGKILL');
      await once(child, 'exit');
    },
  };
};

const startRunner = (name: string, env: Readonly<Record<string, string>>) =>
  startService('runner', [], { ...env, STEMMA_RUNNER: name });

const startPools = async (home: Home, names: readonly string[]): Promise<void> => {
  for (const name of names)
    await startPool(home, {
      id: `start-${name}`,
      name,
      by: { actor: 'ann' },
      messages: SEEDS,
      settings: { sample_size: 2, seed: 7 },
    });
};

const textsOf = async (home: Home, name: string): Promise<readonly string[]> =>
  (await viewPool(home, await home.find(name))).messages.map(({ text }) => text);

/** What each of the pools says after the rounds, wherever and by whomever they are made. */
const expectedTexts = async (rounds: number): Promise<readonly string[]> => {
  const directory = mkdtempSync(join(tmpdir(), 'stemma-alone-'));
  const home = await openHome({ directory, create: true });
  try {
    await startPools(home, ['alone']);
    await runPool(home, await home.find('alone'), { rounds, actor: 'ann' });
    return await textsOf(home, 'alone');
  } finally {
    await home.close();
    rmSync(directory, { recursive: true, force: true });
  }
};

/** Asks for rounds in several pools, and waits until all are made while one of two runners is killed as soon as it works. */
const runWhileKilled = async (
  home: Home,
  names: readonly string[],
  rounds: number,
  runners: readonly { readonly name: string; signal(signal: NodeJS.Signals): void }[],
): Promise<void> => {
  const expected = await expectedTexts(rounds);
  for (const name of names)
    await requestRun(home, await home.find(name), {
      id: `run-${name}`,
      actor: 'ann',
      notes: 'a test',
      rounds,
    });
  const working = async (): Promise<string | undefined> =>
    (await viewRuns(home, { open: true })).find(({ done, runner }) => done > 0 && runner !== null)?.runner ??
    undefined;
  await expect.poll(working, SOON).toBeDefined();
  const killed = await working();
  runners.find(({ name }) => name === killed)?.signal('SIGKILL');
  const open = async (): Promise<readonly string[]> =>
    (await viewRuns(home, { open: true })).map(
      ({ run, done, runner }) => `${run}: ${done} by ${runner ?? 'nobody'}`,
    );
  await expect.poll(open, SOON).toEqual([]);
  for (const name of names) {
    expect(await textsOf(home, name)).toEqual(expected);
    const { history } = await home.find(name);
    expect(await viewRuns(home, { history })).toMatchObject([{ done: rounds, ended: { how: 'rounds' } }]);
    const { attempts } = await home.calls.list(await home.find(name));
    expect(attempts.filter(({ status }) => status === 'answered')).toHaveLength(rounds);
  }
};

it(
  'of two runners in one directory one is killed: the other makes the rounds that are left, of several pools at once',
  { tags: ['pool:Runner'], timeout: 120_000 },
  async () => {
    const directory = mkdtempSync(join(tmpdir(), 'stemma-runners-'));
    await using closing = new AsyncDisposableStack();
    closing.defer(() => rmSync(directory, { recursive: true, force: true }));
    const home = await openHome({ directory, create: true });
    closing.defer(() => home.close());
    const names = ['one', 'two', 'three'];
    await startPools(home, names);
    const env = { STEMMA_HOME: directory };
    const [a, b] = [closing.use(startRunner('a', env)), closing.use(startRunner('b', env))];
    await runWhileKilled(home, names, ROUNDS_HERE, [
      { ...a, name: 'a' },
      { ...b, name: 'b' },
    ]);
    expect(await home.operations.verify()).toMatchObject({ ok: true });
  },
);

it(
  'runners on Kafka and PostgreSQL share the runs, and one that is killed is replaced',
  { tags: ['pool:Runner'], timeout: 240_000 },
  async ({ skip }) => {
    const found = await findBroker();
    const postgres = await findPostgres();
    if ('skip' in found) return skip(found.skip);
    if ('skip' in postgres) return skip(postgres.skip);
    await using closing = new AsyncDisposableStack();
    const directories = [0, 1, 2].map(() => mkdtempSync(join(tmpdir(), 'stemma-shared-')));
    closing.defer(() =>
      directories.forEach((directory) => rmSync(directory, { recursive: true, force: true })),
    );
    const fresh = await freshDatabase(postgres.url);
    closing.defer(() => fresh.drop());
    const prefix = `runners-${randomUUID()}`;
    const log = await openKafkaLog({ brokers: found.brokers, prefix, partitions: 4 });
    await log.close();
    const address = `kafka://${found.brokers.join()}/${prefix}`;
    const home = await openHome({
      directory: directories[0] as string,
      create: true,
      log: address,
      rows: fresh.url,
    });
    closing.defer(() => home.close());
    const env = { STEMMA_LOG: address, STEMMA_ROWS: fresh.url };
    closing.use(startService('projector', [], { ...env, STEMMA_HOME: directories[0] as string }));
    const names = ['one', 'two', 'three', 'four', 'five'];
    await startPools(home, names);
    const [a, b] = ['a', 'b'].map((name, i) =>
      closing.use(startRunner(name, { ...env, STEMMA_HOME: directories[i + 1] as string })),
    );
    if (a === undefined || b === undefined) throw new Error('two runners');
    await runWhileKilled(home, names, ROUNDS_APART, [
      { ...a, name: 'a' },
      { ...b, name: 'b' },
    ]);
  },
);
