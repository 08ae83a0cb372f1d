import { defined } from '@stemma/values';
import { fork, type SendHandle } from 'node:child_process';
import { getCompileCacheDir } from 'node:module';
import { fileURLToPath } from 'node:url';
import { openOutbox, type Outbox } from '../apart/outbox.ts';
import type { FromForwarder, ToForwarder } from './forwarder-messages.ts';

/** A forwarder in a process of its own. */
export type ForwarderChild = {
  readonly pid: number | undefined;
  readonly tell: Outbox<ToForwarder>['put'];
  /** The first message. @param socket one that listens already */
  readonly start: (message: Extract<ToForwarder, { kind: 'start' }>, socket: SendHandle | undefined) => void;
  /** Hears what it says, in order; nothing is heard before. */
  readonly listen: (hear: (message: FromForwarder, socket: SendHandle | undefined) => void) => void;
  /** Resolves with how it ended, in words. */
  readonly ended: Promise<string>;
  readonly kill: () => void;
};

const PROGRAM = fileURLToPath(new URL('./forwarder-process.ts', import.meta.url));

/** Starts the process. It loads while its home is being opened, and begins with the first message. */
export const forkForwarder = (): ForwarderChild => {
  const child = fork(PROGRAM, {
    execArgv: [],
    env: { ...process.env, ...defined({ NODE_COMPILE_CACHE: getCompileCacheDir() }) },
    serialization: 'advanced',
    // In a session of its own: keys of the terminal, and its end, are for the command.
    detached: true,
    stdio: ['ignore', 'ignore', 'ignore', 'ipc'],
  });
  const send = (messages: readonly ToForwarder[], socket?: SendHandle): void => {
    // Of one that has ended the `exit` is heard.
    if (child.connected) child.send([...messages], socket, {}, () => undefined);
  };
  const { put, flush } = openOutbox<ToForwarder>((messages) => send(messages));
  const ended = new Promise<string>((resolve) => {
    child.on('error', (error) => resolve(String(error)));
    child.on('exit', (code, signal) => resolve(signal ?? `exit code ${code}`));
  });
  return {
    pid: child.pid,
    tell: put,
    start: (message, socket) => {
      flush();
      send([message], socket);
    },
    listen: (hear) => {
      child.on('message', (messages, socket) => {
        for (const message of messages as readonly FromForwarder[]) hear(message, socket);
      });
    },
    ended,
    kill: () => void child.kill('SIGKILL'),
  };
};
