import { existsSync, mkdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { removeContainer } from './kafka/container-broker.ts';

/** The environment variable with the folder that all processes of one vitest run share; `startRun` sets it. */
const RUN = 'STEMMA_TEST_RUN';

/**
 * A server that is started once a run, for all its tests: its address, its process and a folder to remove at the end, or
 * the container that it runs in.
 */
export type SharedServer = {
  readonly address: string;
  readonly pid: number;
  readonly folder?: string;
  readonly container?: string;
};

/** What the process that starts a server writes for the others, and for the end of the run. */
type StartResult = SharedServer | { readonly error: string };

/**
 * The server with this name. The first test that needs it starts it.
 *
 * @param start gets a folder inside that of the run
 * @throws Error with the reason; every caller gets the same one
 */
export const sharedInRun = async (
  name: string,
  start: (folder: string) => Promise<SharedServer>,
  environment: NodeJS.ProcessEnv = process.env,
): Promise<string> => {
  const run = environment[RUN];
  if (run === undefined) throw new Error('no run of vitest to share it in');
  const file = join(run, `${name}.json`);
  if (claims(join(run, `${name}.starting`))) {
    let result: StartResult;
    try {
      result = await start(join(run, name));
    } catch (error) {
      result = { error: error instanceof Error ? error.message : String(error) };
    }
    writeWhole(file, result);
  }
  for (const until = performance.now() + 600_000; !existsSync(file);) {
    if (performance.now() > until) throw new Error('it did not start in 600 s');
    await sleep(50);
  }
  const result = readResult(file);
  if ('error' in result) throw new Error(result.error);
  return result.address;
};

/** True in a process of a vitest run that called `startRun`. */
export const inRun = (environment: NodeJS.ProcessEnv = process.env): boolean =>
  environment[RUN] !== undefined;

/** True for the first caller. */
const claims = (folder: string): boolean => {
  try {
    mkdirSync(folder);
    return true;
  } catch {
    return false;
  }
};

const readResult = (file: string): StartResult => JSON.parse(readFileSync(file, 'utf8')) as StartResult;

const writeWhole = (file: string, value: StartResult): void => {
  writeFileSync(`${file}.part`, JSON.stringify(value));
  renameSync(`${file}.part`, file);
};

/** Sets the folder of a run for all its processes. */
export const startRun = (folder: string): void => {
  process.env[RUN] = folder;
};

/** Ends the servers of a run, if any, and removes its folder. */
export const endRun = async (folder: string): Promise<void> => {
  for (const name of ['broker', 'postgres']) await endServer(folder, name);
  rmSync(folder, { recursive: true, force: true, maxRetries: 10 });
};

const endServer = async (run: string, name: string): Promise<void> => {
  const file = join(run, `${name}.json`);
  const starting = join(run, `${name}.starting`);
  // A process of the run may be starting it at this moment.
  for (const until = Date.now() + 300_000; existsSync(starting) && !existsSync(file);) {
    if (Date.now() > until || Date.now() - statSync(starting).mtimeMs > 300_000) break;
    await sleep(100);
  }
  if (!existsSync(file)) return;
  const result = readResult(file);
  if ('error' in result) return;
  if (result.container !== undefined) {
    await removeContainer(result.container);
    return;
  }
  // SIGQUIT lets PostgreSQL release its shared memory; Kafka has none.
  if (name === 'postgres') await endProcess(result.pid, 'SIGQUIT');
  await endProcess(result.pid, 'SIGKILL');
  if (result.folder !== undefined) rmSync(result.folder, { recursive: true, force: true, maxRetries: 10 });
};

const endProcess = async (pid: number, signal: NodeJS.Signals): Promise<void> => {
  for (const until = performance.now() + 10_000; performance.now() < until;) {
    try {
      process.kill(pid, signal);
    } catch {
      return;
    }
    await sleep(20);
  }
};
