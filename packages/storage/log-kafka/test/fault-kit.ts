import { openWriter, type EventLog, type Writer } from '@stemma/log';
import { NO_CONTENTS, openNoteRows, type Note } from '@stemma/log/contract';
import {
  brokerLibs,
  checkOperations,
  freePorts,
  newClusterId,
  startBroker,
  type Anomalies,
  type Broker,
  type Operation,
  type Ports,
} from '@stemma/test-kit';
import { spawn, type ChildProcess } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { connect, createServer, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

export const newPrefix = (): string => `faults-${randomUUID()}`;

export type OwnBrokers = AsyncDisposable & {
  readonly brokers: readonly Broker[];
  readonly addresses: readonly string[];
  /** Where each keeps its partitions. */
  readonly folders: readonly string[];
};

/** Brokers of a test's own, to be killed; they and their data are gone when `using` ends. */
export const ownBrokers = async (
  count: number,
  settings: (ports: Ports) => Readonly<Record<string, string>> = () => ({}),
): Promise<OwnBrokers> => {
  const directory = mkdtempSync(join(tmpdir(), 'stemma-brokers-'));
  const ports = await Promise.all(Array.from({ length: count }, freePorts));
  const [libs, cluster] = [await brokerLibs(), newClusterId()];
  const brokers = await Promise.all(
    ports.map((own, i) =>
      startBroker({
        libs,
        directory: join(directory, String(i + 1)),
        ports: own,
        node: { id: i + 1, ports, cluster },
        settings: settings(own),
      }),
    ),
  );
  return {
    brokers,
    addresses: brokers.map(({ address }) => address),
    folders: brokers.map((_, i) => join(directory, String(i + 1), 'data')),
    [Symbol.asyncDispose]: async () => {
      await Promise.all(brokers.map((broker) => broker.stop('SIGKILL')));
      rmSync(directory, { recursive: true, force: true });
    },
  };
};

/** Resolves when the condition holds. @throws Error when it does not in time */
export const until = async (what: string, holds: () => boolean, seconds = 240): Promise<void> => {
  for (const end = Date.now() + seconds * 1000; !holds();) {
    if (Date.now() > end) throw new Error(`waited ${seconds} s for ${what}`);
    await sleep(20);
  }
};

export type NotesProcess = {
  readonly name: string;
  readonly process: ChildProcess;
  /** What it said so far, as operations. */
  readonly writes: () => readonly Operation[];
  /** Lets it finish what it has begun; resolves when it has ended. */
  readonly finish: () => Promise<void>;
};

/** A process that writes notes (children/notes.ts). */
export const startNotes = (addresses: readonly string[], prefix: string, name: string): NotesProcess => {
  const script = join(import.meta.dirname, 'children/notes.ts');
  const child = spawn(process.execPath, [script, addresses.join(), prefix, name]);
  let output = '';
  let errors = '';
  child.stdout.on('data', (data: Buffer) => (output += data.toString()));
  child.stderr.on('data', (data: Buffer) => (errors += data.toString()));
  const ended = once(child, 'close');
  return {
    name,
    process: child,
    writes: () =>
      output
        .split('\n')
        .slice(0, -1)
        .map((line): Operation => {
          const [history = '', value = '', seq = ''] = line.split(' ');
          const write = { kind: 'write', process: name, history, value } as const;
          return seq === 'unknown'
            ? { ...write, outcome: 'unknown' }
            : { ...write, outcome: 'ok', seq: Number(seq) };
        }),
    finish: async () => {
      child.stdin.end();
      await ended;
      if (child.exitCode !== 0) throw new Error(`${name} ended with ${child.exitCode}: ${errors}`);
    },
  };
};

/** A reader that polls all the while and notes what it sees. */
export const startReader = (log: EventLog, name: string, histories: readonly string[]) => {
  const polls: Operation[] = [];
  const seen = new Map<string, number>();
  const rows = openNoteRows(log);
  let going = true;
  const poll = async (): Promise<void> => {
    await rows.catchUp();
    for (const history of histories) {
      const from = seen.get(history) ?? 0;
      const values = rows.notes(history).slice(from);
      if (values.length > 0) polls.push({ kind: 'poll', process: name, history, from, values });
      seen.set(history, from + values.length);
    }
  };
  const running = (async (): Promise<void> => {
    // A broker that is away is no answer: it is asked again.
    while (going)
      await poll()
        .catch(() => undefined)
        .then(() => sleep(50));
  })();
  return {
    finish: async (): Promise<readonly Operation[]> => {
      going = false;
      await running;
      await poll();
      return polls;
    },
  };
};

/** What is wrong with what the writers said, a reader that followed, and one that reads it all in the end. */
export const judge = async (
  log: EventLog,
  writes: readonly Operation[],
  polls: readonly Operation[],
  histories: readonly string[],
): Promise<Anomalies> => {
  const late = await startReader(log, 'late', histories).finish();
  return checkOperations([...writes, ...polls, ...late]);
};

export const noteWriter = async (log: EventLog): Promise<Writer<Note>> => {
  const rows = openNoteRows(log);
  await rows.catchUp();
  return openWriter(log, {
    domain: rows.domain,
    contents: NO_CONTENTS,
    random: Math.random,
    now: () => performance.now(),
    sleep: (milliseconds) => sleep(milliseconds),
    tries: 10_000,
  });
};

/** A door before a broker that, now and then, takes what it is given and cuts the connection instead of answering. */
export const openProxy = async (port: number, to: number, cuts: () => boolean) => {
  const open = new Set<Socket>();
  let cut = 0;
  const server = createServer((client) => {
    const broker = connect(to, '127.0.0.1');
    const end = (): void => {
      client.destroy();
      broker.destroy();
    };
    for (const socket of [client, broker]) {
      open.add(socket);
      socket.on('error', end).on('close', () => {
        open.delete(socket);
        end();
      });
    }
    client.pause();
    broker.once('connect', () => client.resume());
    client.on('data', (data) => broker.write(data));
    broker.on('data', (data) => {
      if (!cuts()) {
        client.write(data);
        return;
      }
      cut++;
      end();
    });
  }).listen(port, '127.0.0.1');
  await once(server, 'listening');
  return {
    cut: (): number => cut,
    close: async (): Promise<void> => {
      server.close();
      for (const socket of open) socket.destroy();
      await once(server, 'close');
    },
  };
};
