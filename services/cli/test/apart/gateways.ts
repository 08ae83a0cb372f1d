import { createClient, type ApiClient } from '@stemma/api';
import { programFile } from '@stemma/test-kit';
import {
  environmentOf,
  startProjector,
  until,
  type Place,
  type Process,
  type Processes,
} from './processes.ts';

export type Gateway = Process & { readonly url: string; readonly client: ApiClient };

/** Starts a gateway at a port of the system's choice; resolves when it answers. */
export const startGateway = async (processes: Processes, place: Place, name: string): Promise<Gateway> => {
  const started = processes.node(name, [programFile('gateway')], {
    ...environmentOf(place),
    STEMMA_PORT: '0',
  });
  let url = '';
  await until(`${name} to answer`, () => {
    if (started.ended()) throw new Error(`${name} ended: ${started.said()}`);
    url = /Stemma is at (http:\S+?)\/?\s/.exec(started.said())?.[1] ?? '';
    return url !== '';
  });
  return { ...started, url, client: clientOf(() => url) };
};

/** Starts two projectors, which share the partitions, and two gateways on their rows. */
export const startTwoGateways = async (
  processes: Processes,
  place: Place,
): Promise<readonly [Gateway, Gateway]> => {
  for (let i = 0; i < 2; i++) startProjector(processes, place);
  return [await startGateway(processes, place, 'a'), await startGateway(processes, place, 'b')];
};

/** A client of whatever is at an address now; it never waits for an answer longer than so many milliseconds. */
export const clientOf = (url: () => string, most = 60_000): ApiClient =>
  createClient((path, options) => fetch(url() + path, { ...options, signal: AbortSignal.timeout(most) }), '');

/** Runs `stemma` to its end. */
export const stemma = async (
  processes: Processes,
  place: Place,
  args: readonly string[],
): Promise<{ readonly said: string; readonly code: number | null }> => {
  const started = processes.node(`stemma ${args.join(' ')}`, [programFile('stemma'), ...args], {
    ...environmentOf(place),
  });
  await until(`stemma ${args.join(' ')} to end`, () => started.ended());
  return { said: started.said(), code: started.code() };
};

/** What `work` gives, tried again while what it needs is away. */
export const insistently = async <T>(what: string, work: () => Promise<T>): Promise<T> => {
  let result: { readonly value: T } | undefined;
  await until(what, async () => {
    result = { value: await work() };
    return true;
  });
  return (result as { readonly value: T }).value;
};

/** The command of each frame of a history from one on, at the place of its seq. */
export const valuesOf = async (
  { client }: Pick<Gateway, 'client'>,
  history: string,
  first = 0,
): Promise<readonly string[]> => {
  const values: string[] = [];
  for (let from = first; ;) {
    const { events, next } = await client.events({ history, from, limit: 1000 });
    for (const { seq, command } of events) values[seq] = command;
    if (next === null) return values;
    from = next;
  }
};
