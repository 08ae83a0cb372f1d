import { visibleText } from '@stemma/errors';
import { beganAt } from '@stemma/machine';
import { openHomeThread } from '../apart/open-home-thread.ts';
import type { HomeThreadOptions } from '../apart/thread-messages.ts';
import type { AuthorityKeys } from '../intercept/authority.ts';
import type { InterceptOptions } from '../intercept/open-intercept.ts';
import type { InterceptedHosts } from '../intercept/read-hosts.ts';
import type { Upstreams } from '../proxy/address.ts';
import { CallCounter, type ProxyCounts } from '../proxy/proxy-counts.ts';
import { forkForwarder } from './forwarder-child.ts';
import { openForwarder } from './open-forwarder.ts';

export type CommandRecorderOptions = {
  readonly home: HomeThreadOptions['home'];
  /** Where the calls of models go. */
  readonly upstreams: Upstreams;
  /** What is read where it passes; undefined: the command is told addresses. */
  readonly intercept?: (InterceptedHosts & Pick<InterceptOptions, 'recordedIn'>) | undefined;
  /** Hears that a call has begun to go out. */
  readonly callBegan?: (() => void) | undefined;
  /** Says what an operator has to know. */
  readonly warn: (sentence: string) => void;
};

/** A host whose connections passed unread. */
export type TunnelledHost = { readonly host: string; readonly connections: number };

/** A proxy that reads what goes to models. */
type CommandIntercept = {
  readonly url: string;
  /** What the command has to trust, as PEM. */
  readonly certificate: string;
  /** The most first. */
  readonly tunnelled: () => readonly TunnelledHost[];
};

/** Records the calls of a command. */
export type CommandRecorder = {
  readonly intercept: CommandIntercept | undefined;
  /** Of a proxy on this machine. It is there as long as the command, whatever becomes of this process. */
  readonly url: string;
  /** The command whose calls are recorded. */
  readonly follow: (pid: number) => void;
  readonly calls: () => ProxyCounts;
  /** Resolves when all calls are recorded, or when the time is over, with how many entries still wait. */
  readonly drained: (milliseconds: number) => Promise<number>;
  readonly close: () => Promise<void>;
};

/** Milliseconds that calls which end while it closes have to be recorded; the rest waits in files. */
const DRAIN = 5_000;

/** Nobody asks anything of this home but to record. */
const NO_DOOR = {
  count: () => undefined,
  take: () => [],
  backlog: () => ({ calls: 0, bytes: 0, seconds: 0 }),
};

/**
 * Records the calls that go through a proxy in a process of its own, the forwarder: it forwards and notes, and lives as long as
 * the command, also when this process is killed. This one holds the home, and starts the forwarder once more if that one ends.
 *
 * @throws what opening the home throws, and E_IO if its directory cannot be written
 */
export const openCommandRecorder = async ({
  home,
  upstreams,
  intercept,
  callBegan,
  warn,
}: CommandRecorderOptions): Promise<CommandRecorder> => {
  const first = forkForwarder();
  const stop = async (error: unknown): Promise<never> => {
    first.kill();
    await first.ended;
    throw error;
  };
  let away: ((reason: string) => void) | undefined;
  // Nobody asks questions.
  const thread = await openHomeThread({ home, queryTimeout: 0 }, NO_DOOR, () =>
    away?.('the home has ended'),
  ).catch(stop);
  const tunnelled = new TunnelledHosts();
  const counter = new CallCounter(() => undefined, warn);
  try {
    const authority = intercept && (await makeKeysOfRun());
    const forwarder = await openForwarder({
      first,
      home: thread,
      options: {
        directory: home.directory,
        upstreams: addressesOf(upstreams),
        intercept:
          intercept === undefined || authority === undefined
            ? null
            : {
                ...intercept,
                authority,
                upstreams: addressesOf(intercept.upstreams),
                elsewhere: addressesOf(intercept.elsewhere),
              },
        host: '127.0.0.1',
        port: 0,
      },
      counter,
      callBegan,
      tunnelled: (name) => tunnelled.add(name),
      warn: (sentence) => warn(visibleText(sentence)),
    });
    away = forwarder.away;
    return {
      url: forwarder.url,
      intercept: authority && {
        url: forwarder.url,
        certificate: authority.certificate,
        tunnelled: () => tunnelled.list(),
      },
      follow: (pid) => forwarder.follow({ pid, began: beganAt(pid) ?? null }),
      calls: () => counter.counts(),
      drained: forwarder.drained,
      close: async () => {
        thread.closing();
        await forwarder.close();
        await forwarder.drained(DRAIN);
        await thread.close();
        await forwarder.end();
      },
    };
  } catch (error) {
    await thread.close();
    throw error;
  }
};

/** Only who intercepts loads what makes certificates. */
const makeKeysOfRun = async (): Promise<AuthorityKeys> => {
  const { makeAuthority } = await import('../intercept/authority.ts');
  return makeAuthority();
};

const addressesOf = (urls: Readonly<Record<string, URL>>): Record<string, string> =>
  Object.fromEntries(Object.entries(urls).map(([name, { href }]) => [name, href]));

/** Hosts that are counted by name. */
const MOST_HOSTS = 100;

class TunnelledHosts {
  readonly #connections = new Map<string, number>();

  add(host: string): void {
    const known = this.#connections.get(host);
    if (known !== undefined || this.#connections.size < MOST_HOSTS)
      this.#connections.set(host, (known ?? 0) + 1);
  }

  list(): readonly TunnelledHost[] {
    return [...this.#connections]
      .map(([host, connections]) => ({ host, connections }))
      .sort((a, b) => b.connections - a.connections);
  }
}
