import pg from 'pg';
import { execFileSync, spawn, spawnSync, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import {
  chmodSync,
  chownSync,
  closeSync,
  existsSync,
  mkdtempSync,
  openSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { freePort } from '../kafka/ports.ts';

export type PostgresOptions = {
  /** Settings of the server. Default: what makes tests fast; nothing is synced to the disk. */
  readonly settings?: Readonly<Record<string, string>>;
  /** The password that everybody must give. Default: nobody needs one. */
  readonly password?: string;
  /** Let it live on when this process ends. */
  readonly detached?: boolean;
};

/** A PostgreSQL on the loopback address with a data directory of its own and one user, `stemma`. */
export type Postgres = {
  /** `postgres://stemma@127.0.0.1:PORT/postgres`, without the password. */
  readonly url: string;
  /** Its folder; `data` lies in it. */
  readonly folder: string;
  readonly pid: () => number;
  /** Stops all of its processes (SIGSTOP), as a machine that hangs; what is given lets them go on. */
  readonly freeze: () => () => void;
  /** Ends it (SIGINT: gently, SIGKILL: at once) and resolves when it is gone. */
  readonly stop: (signal?: 'SIGINT' | 'SIGKILL') => Promise<void>;
  /** Starts it again on the data and the port it has; resolves when it answers. */
  readonly start: () => Promise<void>;
  /** Ends it and takes its folder away. */
  readonly remove: () => Promise<void>;
};

const HOST = '127.0.0.1';
const PATIENCE_MS = 240_000;

/** The folder of `initdb` and `postgres`: on the PATH, or where Debian puts them. Undefined if there is none. */
export const postgresFolder = (environment: NodeJS.ProcessEnv = process.env): string | undefined => {
  const debian = '/usr/lib/postgresql';
  const versions = existsSync(debian) ? readdirSync(debian).sort((a, b) => Number(b) - Number(a)) : [];
  return [
    ...(environment['PATH'] ?? '').split(delimiter).filter((folder) => folder !== ''),
    ...versions.map((version) => join(debian, version, 'bin')),
  ].find((folder) => ['initdb', 'postgres'].every((tool) => existsSync(join(folder, tool))));
};

/** PostgreSQL refuses to run as root: then it runs as another user. */
const otherUser = (): { readonly uid: number; readonly gid: number } | undefined => {
  if (process.getuid?.() !== 0) return undefined;
  for (const name of ['postgres', 'nobody']) {
    try {
      const ask = (what: string): number => Number(execFileSync('id', [what, name], { stdio: 'pipe' }));
      return { uid: ask('-u'), gid: ask('-g') };
    } catch {
      continue;
    }
  }
  throw new Error('no user but root to run PostgreSQL as');
};

/** Makes a data directory, starts a server on it and resolves when it answers. @throws Error with the end of its log */
export const startPostgres = async (options: PostgresOptions = {}): Promise<Postgres> => {
  const tools = postgresFolder();
  if (tools === undefined) throw new Error('no PostgreSQL here');
  const user = otherUser();
  const folder = mkdtempSync(join(tmpdir(), 'stemma-postgres-'));
  chmodSync(folder, 0o755);
  if (user) chownSync(folder, user.uid, user.gid);
  const data = join(folder, 'data');
  const log = join(folder, 'log');
  const { password } = options;
  const passwordFile = join(folder, 'password');
  if (password !== undefined) writeFileSync(passwordFile, password, { mode: 0o644 });
  const auth = password === undefined ? ['-A', 'trust'] : ['-A', 'scram-sha-256', `--pwfile=${passwordFile}`];
  execFileSync(
    join(tools, 'initdb'),
    ['-D', data, '-U', 'stemma', '-E', 'UTF8', '--locale=C', '--no-sync', ...auth],
    { ...user, cwd: folder, stdio: 'pipe' },
  );
  const settings = {
    max_connections: '200',
    shared_buffers: '64MB',
    fsync: 'off',
    full_page_writes: 'off',
    ...options.settings,
    listen_addresses: HOST,
    unix_socket_directories: '',
  };
  const lines = Object.entries(settings).map(([name, value]) => `${name} = '${value}'\n`);
  writeFileSync(join(data, 'postgresql.auto.conf'), lines.join(''));

  let child: ChildProcess | undefined;
  const launch = (port: number): ChildProcess => {
    const output = openSync(log, 'a');
    child = spawn(join(tools, 'postgres'), ['-D', data, '-p', String(port)], {
      ...user,
      cwd: folder,
      stdio: ['ignore', output, output],
      detached: options.detached === true,
    });
    closeSync(output);
    if (options.detached === true) child.unref();
    return child;
  };
  /** Somebody may have taken the port, or processes of a killed server may not be gone yet: then once more. */
  const begin = async (choose: () => Promise<number>): Promise<number> => {
    for (const until = performance.now() + PATIENCE_MS; performance.now() < until;) {
      const port = await choose();
      if (await answers(launch(port), { data, port, password, until })) return port;
      await sleep(50);
    }
    throw new Error(`PostgreSQL did not start: ${readFileSync(log, 'utf8').slice(-2000)}`);
  };
  const stop = async (signal: NodeJS.Signals = 'SIGINT'): Promise<void> => {
    const ending = child;
    if (ending === undefined || hasEnded(ending)) return;
    const gone = once(ending, 'exit');
    ending.kill('SIGCONT');
    ending.kill(signal);
    await gone;
  };
  const running = (): readonly number[] =>
    child?.pid === undefined || hasEnded(child) ? [] : processesOf(child.pid);
  const port = await begin(freePort);
  return {
    url: `postgres://stemma@${HOST}:${port}/postgres`,
    folder,
    pid: () => child?.pid ?? 0,
    freeze: () => {
      // First the one that would start others.
      child?.kill('SIGSTOP');
      const pids = running();
      for (const pid of pids) signalled(pid, 'SIGSTOP');
      return () => {
        for (const pid of pids) signalled(pid, 'SIGCONT');
      };
    },
    stop,
    start: async () => {
      await begin(() => Promise.resolve(port));
    },
    remove: async () => {
      const pids = running();
      await stop('SIGKILL');
      for (const pid of pids) signalled(pid, 'SIGKILL');
      // What a killed server left of its processes may still write here.
      rmSync(folder, { recursive: true, force: true, maxRetries: 20, retryDelay: 100 });
    },
  };
};

/** A process and those that it started. */
const processesOf = (pid: number): number[] => {
  const kept = `/proc/${pid}/task/${pid}/children`;
  const children = existsSync(kept)
    ? readFileSync(kept, 'utf8')
    : spawnSync('ps', ['-o', 'pid=', '--ppid', String(pid)], { encoding: 'utf8' }).stdout;
  return [pid, ...children.split(/\s+/).filter(Boolean).map(Number)];
};

const signalled = (pid: number, signal: NodeJS.Signals): void => {
  try {
    process.kill(pid, signal);
  } catch {
    return;
  }
};

const ignored = (): undefined => undefined;

const hasEnded = (child: ChildProcess): boolean => child.exitCode !== null || child.signalCode !== null;

/** Whether it comes to answer; false when it ended instead. */
const answers = async (
  child: ChildProcess,
  {
    data,
    port,
    password,
    until,
  }: {
    readonly data: string;
    readonly port: number;
    readonly password: string | undefined;
    readonly until: number;
  },
): Promise<boolean> => {
  while (!hasEnded(child) && performance.now() < until) {
    const client = new pg.Client({ host: HOST, port, user: 'stemma', database: 'postgres', password });
    client.on('error', ignored);
    try {
      await client.connect();
      // Another one may have taken the port.
      const { rows } = await client.query<{ data_directory: string }>('show data_directory');
      if (rows[0]?.data_directory === data) return true;
      break;
    } catch {
      await sleep(20);
    } finally {
      await client.end().catch(ignored);
    }
  }
  child.kill('SIGKILL');
  return false;
};
