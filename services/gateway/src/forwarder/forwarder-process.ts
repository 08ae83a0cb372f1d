import { toWireError } from '@stemma/errors';
import { isAlive } from '@stemma/machine';
import type { SendHandle } from 'node:child_process';
import { openOutbox } from '../apart/outbox.ts';
import type { FromForwarder, ToForwarder } from './forwarder-messages.ts';
import type { RunningCommand } from './forwarder-options.ts';
import { startForwarding, type Forwarding } from './start-forwarding.ts';

/*
 * The process that forwards calls and notes them in the journal. It has no home: another process, the recorder, records what is
 * noted. When that one is gone, calls go on, and what is noted waits in the journal for whoever opens the home next.
 */

/** How often it looks whether the command has ended, when nobody else can say so, in milliseconds. */
const LOOK = 250;

const RECORDER_GONE = 'the process that records calls has ended';

const send = (messages: readonly FromForwarder[], socket?: SendHandle): void => {
  // A recorder that is gone hears nothing; what counts is in the journal.
  if (process.connected) process.send?.(messages, socket, {}, () => undefined);
};
const { put: tell, flush } = openOutbox<FromForwarder>((messages) => send(messages));

let forwarding: Forwarding | undefined;
/** What came before it listens. */
let early: Exclude<ToForwarder, { kind: 'start' }>[] = [];
let command: RunningCommand | null = null;
let isEnding = false;

const end = async (): Promise<void> => {
  if (isEnding) return;
  isEnding = true;
  await forwarding?.close();
  await forwarding?.end();
  flush();
  process.exit(0);
};

/** Ends when the command has ended and none of its calls is under way: nobody is there to say so. */
const endAlone = (): void => {
  const look = (): void => {
    const runs = command !== null && isAlive(command.pid, command.began ?? undefined);
    if (!runs && (forwarding?.underWay() ?? 0) === 0) void end();
  };
  setInterval(look, LOOK);
  look();
};

const start = async (
  { options }: Extract<ToForwarder, { kind: 'start' }>,
  socket: SendHandle | undefined,
): Promise<void> => {
  try {
    command = options.command;
    forwarding = await startForwarding(options, socket, tell);
    send([{ kind: 'listening', url: forwarding.url, port: forwarding.port }], forwarding.socket());
    if (!process.connected) forwarding.away(RECORDER_GONE);
    const came = early;
    early = [];
    for (const message of came) hear(message, forwarding);
  } catch (error) {
    send([{ kind: 'refused', error: toWireError(error) }]);
    process.exitCode = 1;
    process.disconnect();
  }
};

const hear = (message: Exclude<ToForwarder, { kind: 'start' }>, to: Forwarding): void => {
  switch (message.kind) {
    case 'command':
      command = message.command;
      break;
    case 'recorded':
    case 'steered':
    case 'scopesRead':
    case 'steeredScopes':
      to.hear(message);
      break;
    case 'away':
      to.away(message.reason);
      break;
    case 'drain': {
      const { id, milliseconds } = message;
      void to.drained(milliseconds).then((waiting) => tell({ kind: 'drained', id, waiting }));
      break;
    }
    case 'close':
      void to.close().then(() => tell({ kind: 'closed' }));
      break;
    case 'end':
      void end();
  }
};

process.on('message', (messages: readonly ToForwarder[], socket: SendHandle | undefined) => {
  for (const message of messages)
    if (message.kind === 'start') void start(message, socket);
    else if (forwarding === undefined) early.push(message);
    else hear(message, forwarding);
});
process.on('disconnect', () => {
  forwarding?.away(RECORDER_GONE);
  endAlone();
});
process.on('uncaughtException', (error) => {
  send([{ kind: 'failed', reason: String(error) }]);
  process.exit(70);
});
// Keys of the terminal are for the command; what ends it ends this process, too.
process.on('SIGINT', () => undefined);
process.on('SIGHUP', () => undefined);
