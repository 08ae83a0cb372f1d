import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { brokerLibs } from './broker-libs.ts';
import { startBroker } from './broker.ts';

/** A broker for tests, or why there is none: tests are then skipped with this reason. */
export type Found = { readonly brokers: readonly string[] } | { readonly skip: string };

/** The folder that the processes of one run of vitest share; `startRun` names it. */
const RUN = 'STEMMA_TEST_RUN';

/**
 * The broker that all tests of this run share, each with topics of its own: `KAFKA_BROKERS` (`host:port,…`), else one from
 * the Maven artefacts where Java and Maven are, started by whoever needs it first.
 */
export const findBroker = async (environment: NodeJS.ProcessEnv = process.env): Promise<Found> => {
  const given = environment['KAFKA_BROKERS'] ?? '';
  if (given !== '') return { brokers: given.split(',') };
  const reason = missingTools();
  if (reason !== undefined) return { skip: reason };
  const run = environment[RUN];
  if (run === undefined) return { skip: 'no run of vitest to share a broker in' };
  try {
    return { brokers: [await sharedBroker(run)] };
  } catch (error) {
    return { skip: `no broker: ${error instanceof Error ? error.message : String(error)}` };
  }
};

/** Why no broker can be started here; undefined if one can. */
export const missingTools = (): string | undefined => {
  const missing = ['java', 'mvn'].filter((tool) => !isThere(tool));
  return missing.length === 0
    ? undefined
    : `no Kafka here: set KAFKA_BROKERS, or install ${missing.join(' and ')}`;
};

const isThere = (tool: string): boolean => {
  try {
    execFileSync(tool, ['-version'], { stdio: 'ignore', timeout: 120_000 });
    return true;
  } catch {
    return false;
  }
};

/** What whoever starts the broker leaves for the others, and for who ends it. */
type Shared = { readonly address: string; readonly pid: number } | { readonly error: string };

const sharedBroker = async (run: string): Promise<string> => {
  const file = join(run, 'broker.json');
  if (takes(join(run, 'starting'))) writeWhole(file, await start(join(run, 'broker')));
  for (const until = performance.now() + 600_000; !existsSync(file);) {
    if (performance.now() > until) throw new Error('it did not start in 600 s');
    await sleep(50);
  }
  const shared = JSON.parse(readFileSync(file, 'utf8')) as Shared;
  if ('error' in shared) throw new Error(shared.error);
  return shared.address;
};

/** True for the first who asks. */
const takes = (folder: string): boolean => {
  try {
    mkdirSync(folder);
    return true;
  } catch {
    return false;
  }
};

const start = async (directory: string): Promise<Shared> => {
  try {
    const broker = await startBroker({ libs: await brokerLibs(), directory, detached: true });
    return { address: broker.address, pid: broker.pid() };
  } catch (error) {
    return { error: error instanceof Error ? error.message : String(error) };
  }
};

const writeWhole = (file: string, value: Shared): void => {
  writeFileSync(`${file}.part`, JSON.stringify(value));
  renameSync(`${file}.part`, file);
};

/** Names the folder of a run for all its processes. */
export const startRun = (folder: string): void => {
  process.env[RUN] = folder;
};

/** Ends the broker of a run, if one was started, and takes its folder away. */
export const endRun = async (folder: string): Promise<void> => {
  const file = join(folder, 'broker.json');
  const starting = join(folder, 'starting');
  // A process of the run may just be starting it.
  for (const until = Date.now() + 300_000; existsSync(starting) && !existsSync(file);) {
    if (Date.now() > until || Date.now() - statSync(starting).mtimeMs > 300_000) break;
    await sleep(100);
  }
  if (existsSync(file)) {
    const shared = JSON.parse(readFileSync(file, 'utf8')) as Shared;
    if ('pid' in shared) await endProcess(shared.pid);
  }
  rmSync(folder, { recursive: true, force: true, maxRetries: 10 });
};

const endProcess = async (pid: number): Promise<void> => {
  try {
    process.kill(pid, 'SIGKILL');
  } catch {
    return;
  }
  for (const until = performance.now() + 10_000; performance.now() < until;) {
    try {
      process.kill(pid, 0);
    } catch {
      return;
    }
    await sleep(20);
  }
};
