import { backOff, fail, fromWireError, reasonOf, type BackOff } from '@stemma/errors';
import type { SendHandle } from 'node:child_process';
import { setTimeout as sleep } from 'node:timers/promises';
import type { HomeThread } from '../apart/open-home-thread.ts';
import type { CountedCalls } from '../proxy/proxy-counts.ts';
import { forkForwarder, type ForwarderChild } from './forwarder-child.ts';
import type { CallCount, FromForwarder } from './forwarder-messages.ts';
import type { ForwarderOptions, RunningCommand } from './forwarder-options.ts';
import { openCallRelay, type CallRelay } from './relay-calls.ts';

/** When a forwarder that has ended is started once more. */
export type Restarts = BackOff & {
  /** So many forwarders may end one after the other before they have lived for a while. */
  readonly most: number;
  /** Milliseconds after which one has lived for a while. */
  readonly lived: number;
};

export type OpenForwarderOptions = {
  /** The first process, which loads already. */
  readonly first: ForwarderChild;
  readonly home: Pick<HomeThread, 'calls' | 'scopes' | 'redacts'>;
  readonly options: Pick<ForwarderOptions, 'directory' | 'upstreams' | 'intercept' | 'host' | 'port'>;
  readonly counter: CountedCalls;
  readonly callBegan?: (() => void) | undefined;
  /** Hears that a connection to a host passes unread. */
  readonly tunnelled: (host: string) => void;
  readonly warn: (sentence: string) => void;
  readonly restarts?: Restarts;
};

/** A forwarder that is started once more when it ends. */
export type Forwarder = {
  readonly url: string;
  /** Of the process that forwards now. */
  readonly pid: () => number | undefined;
  /** Calls of this command go on when the recorder is gone. */
  readonly follow: (command: RunningCommand) => void;
  /** Nothing is recorded any more, for this reason. */
  readonly away: (reason: string) => void;
  /** Resolves with how many entries wait when all are recorded, or the time is over. */
  readonly drained: (milliseconds: number) => Promise<number>;
  /** Takes no new calls; those under way have some time. */
  readonly close: () => Promise<void>;
  /** Ends the process: what is not recorded stays in the journal. */
  readonly end: () => Promise<void>;
};

const RESTARTS: Restarts = { most: 10, lived: 1_000, first: 50, longest: 2_000 };

/** Milliseconds that a forwarder has to end, which waits for 5 s at most for calls that are under way. */
const ENDING = 15_000;

/** @throws what opening the journal and listening throw */
export const openForwarder = async (options: OpenForwarderOptions): Promise<Forwarder> => {
  const processes = new ForwarderProcesses(options);
  const url = await processes.begin();
  return {
    url,
    pid: () => processes.pid,
    follow: (command) => processes.follow(command),
    away: (reason) => processes.markAway(reason),
    drained: (milliseconds) => processes.drained(milliseconds),
    close: () => processes.close(),
    end: () => processes.end(),
  };
};

/** Forwarders that follow one another, one at a time, on one socket. */
class ForwarderProcesses {
  readonly #options: OpenForwarderOptions;
  readonly #restarts: Restarts;
  #child: ForwarderChild;
  #socket: SendHandle | undefined;
  #port: number;
  #command: RunningCommand | null = null;
  #away: string | null = null;
  #isClosing = false;
  /** Resolves with true when a forwarder listens, with false when none will. */
  #listens = Promise.withResolvers<boolean>();
  #isListening = false;
  /** Resolves when all is recorded that the forwarders before gave. */
  #settled = Promise.resolve();
  #asked = 0;
  readonly #drains = new Map<number, (waiting: number) => void>();
  readonly #lost = Promise.withResolvers<undefined>();
  readonly #closed = Promise.withResolvers<undefined>();

  constructor(options: OpenForwarderOptions) {
    this.#options = options;
    this.#restarts = options.restarts ?? RESTARTS;
    this.#child = options.first;
    this.#port = options.options.port;
  }

  get pid(): number | undefined {
    return this.#child.pid;
  }

  /** @returns the address, when the first one listens */
  async begin(): Promise<string> {
    const { first, home } = this.#options;
    home.scopes.listen((steered) => this.#child.tell({ kind: 'steeredScopes', steered }));
    try {
      const url = await this.#startIn(first);
      void this.#keepRunning();
      return url;
    } catch (error) {
      first.kill();
      await first.ended;
      throw error;
    }
  }

  follow(command: RunningCommand): void {
    this.#command = command;
    this.#child.tell({ kind: 'command', command });
  }

  markAway(reason: string): void {
    this.#away = reason;
    this.#child.tell({ kind: 'away', reason });
    this.#lost.resolve(undefined);
  }

  /** Asks the forwarder that runs; the one after it, if it ends before it answers. */
  async drained(milliseconds: number): Promise<number> {
    const until = performance.now() + milliseconds;
    while (await this.#listens.promise) {
      const id = ++this.#asked;
      const child = this.#child;
      const isAway = this.#away !== null;
      const answered = new Promise<number>((resolve) => this.#drains.set(id, resolve));
      const left = isAway ? 0 : Math.max(0, until - performance.now());
      child.tell({ kind: 'drain', id, milliseconds: left });
      const asked = [answered, child.ended.then(() => undefined)];
      const waiting = await Promise.race(isAway ? asked : [...asked, this.#lost.promise]);
      this.#drains.delete(id);
      if (waiting !== undefined) return waiting;
    }
    return 0;
  }

  async close(): Promise<void> {
    this.#isClosing = true;
    if (!(await this.#listens.promise)) return;
    this.#child.tell({ kind: 'close' });
    const late = new AbortController();
    const deadline = sleep(ENDING, undefined, { signal: late.signal }).catch(() => undefined);
    await Promise.race([this.#closed.promise, this.#child.ended, deadline]);
    late.abort();
  }

  async end(): Promise<void> {
    this.#child.tell({ kind: 'end' });
    const timer = setTimeout(this.#child.kill, ENDING);
    await this.#child.ended;
    clearTimeout(timer);
  }

  /** @returns the address, when it listens @throws what keeps it from that */
  #startIn(child: ForwarderChild): Promise<string> {
    const { home, options } = this.#options;
    const { promise, resolve, reject } = Promise.withResolvers<string>();
    const relay = openCallRelay(home, child.tell, this.#settled);
    this.#child = child;
    child.listen((message, socket) => {
      if (message.kind === 'listening') {
        this.#socket = socket;
        this.#port = message.port;
        this.#isListening = true;
        this.#listens.resolve(true);
        resolve(message.url);
      } else if (message.kind === 'refused') reject(fromWireError(message.error));
      else this.#hear(message, relay);
    });
    const { redacts, scopes } = home;
    const now = { port: this.#port, command: this.#command, away: this.#away, scopes: scopes.known() };
    child.start({ kind: 'start', options: { ...options, redacts, ...now } }, this.#socket);
    void child.ended.then((how) => {
      this.#settled = relay.end();
      // Whoever waits for one that never listened waits for the next one.
      if (this.#isListening) this.#listens = Promise.withResolvers();
      this.#isListening = false;
      reject(fail('E_INTERNAL', `the forwarder ended before it listened (${how})`));
    });
    return promise;
  }

  /** Starts the next one whenever one ends, until that has no use. */
  async #keepRunning(): Promise<void> {
    const { warn } = this.#options;
    const { most, lived } = this.#restarts;
    let failed = 0;
    for (let began = performance.now(); ; began = performance.now()) {
      const how = await this.#child.ended;
      failed = performance.now() - began < lived ? failed + 1 : 0;
      if (failed > most)
        warn(
          `the forwarder ended ${failed} times (${how}): calls fail from now on, and the next stemma record or up records what is noted`,
        );
      else if (failed > 0 && !this.#isClosing) await sleep(backOff(failed, this.#restarts));
      if (this.#isClosing || failed > most) break;
      await this.#startIn(forkForwarder()).catch((error: unknown) => {
        warn(`the forwarder cannot start: ${reasonOf(error)}`);
        this.#child.kill();
      });
    }
    this.#listens.resolve(false);
  }

  #hear(message: Exclude<FromForwarder, { kind: 'listening' | 'refused' }>, relay: CallRelay): void {
    const { counter, callBegan, tunnelled, warn } = this.#options;
    switch (message.kind) {
      case 'call':
      case 'steer':
      case 'steerGone':
      case 'readScopes':
        relay.hear(message);
        break;
      case 'count':
        countIn(counter, message);
        break;
      case 'tunnelled':
        tunnelled(message.host);
        break;
      case 'callBegan':
        callBegan?.();
        break;
      case 'warn':
        warn(message.sentence);
        break;
      case 'drained':
        this.#drains.get(message.id)?.(message.waiting);
        break;
      case 'closed':
        this.#closed.resolve(undefined);
        break;
      case 'failed':
        warn(`the forwarder cannot go on: ${message.reason}`);
    }
  }
}

/** Counts what a forwarder said of a call. */
const countIn = (counter: CountedCalls, { what, of }: CallCount): void => {
  switch (what) {
    case 'addCall':
      counter.addCall(...of);
      break;
    case 'addUnsent':
      counter.addUnsent(...of);
      break;
    case 'addUnrecorded':
      counter.addUnrecorded(...of);
      break;
    case 'addHistory':
      counter.addHistory(...of);
      break;
    case 'addDropped':
      counter.addDropped(...of);
      break;
    case 'addRefused':
      counter.addRefused(...of);
      break;
    case 'addRecorded':
      counter.addRecorded(...of);
  }
};
