import { platform } from '#call-platform';
import type { SendExchange, SendExchanges } from './open-sender.ts';
import type { CallRecorderOptions, SendTimes } from './options.ts';
import { outcomeOf, outcomesOf } from './outcome.ts';

/** Where exchanges are recorded. */
export type ExchangeRoute = {
  /** What waits for it waits under this name, which holds no password. */
  readonly name: string;
  readonly send: SendExchange;
  /** Undefined: it takes one at a time. */
  readonly sendMany?: SendExchanges;
  close(): Promise<void>;
};

/** The address of a gateway on this machine, if none is given. */
const DEFAULT_URL = 'http://127.0.0.1:7836';

/** A gateway, or a home that this process opens when there is something to record. */
export const openTarget = (
  { url, home }: Pick<CallRecorderOptions, 'url' | 'home'>,
  { answer }: Pick<SendTimes, 'answer'>,
): ExchangeRoute => {
  if (home !== undefined) return openHomeTarget(platform.absolute(home));
  const given = url ?? platform.env('STEMMA_URL') ?? '';
  const address = (given === '' ? DEFAULT_URL : given).replace(/\/+$/, '');
  return {
    name: withoutPassword(address),
    send: async (id, json) => {
      const { status, text } = await platform.post(`${address}/api/exchanges`, json, answer);
      return outcomeOf(id, status, text);
    },
    sendMany: async (exchanges) => {
      const json = `{"exchanges":[${exchanges.map((exchange) => exchange.json).join(',')}]}`;
      const { status, text } = await platform.post(`${address}/api/exchanges/batch`, json, answer);
      return outcomesOf(
        exchanges.map(({ id }) => id),
        status,
        text,
      );
    },
    close: () => Promise.resolve(),
  };
};

const withoutPassword = (address: string): string => address.replace(/^(https?:\/\/)[^/@]*@/, '$1');

const openHomeTarget = (directory: string): ExchangeRoute => {
  const opening = import('#home-backend').then(({ openHomeRecording }) => openHomeRecording(directory));
  opening.catch(() => undefined);
  return {
    name: `home:${directory}`,
    send: async (id, json) => (await opening).send(id, json),
    close: async () => {
      await opening.then(
        (home) => home.close(),
        () => undefined,
      );
    },
  };
};
