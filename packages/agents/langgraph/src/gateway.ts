import { createClient, type ApiClient, type ApiFetch } from '@stemma/api';
import { backOff, isStemmaError, StemmaError } from '@stemma/errors';

const TRIES = 5;
const PAUSES = { first: 100, longest: 1_600 };
/** Somebody else is served first, or nobody knows whether the command was recorded: the same one is sent again. */
const AGAIN = ['E_IO', 'E_OUTCOME_UNKNOWN', 'E_BUSY', 'E_ROWS_BEHIND', 'E_TOO_MANY_REQUESTS'] as const;

/** What a saver asks a gateway. Each question is asked up to 5 times; a command has one effect, however often it arrives. */
export type SaverGateway = Pick<
  ApiClient,
  'start' | 'command' | 'history' | 'branches' | 'histories' | 'export' | 'events'
>;

/** @throws (its functions) the server's errors; E_IO that names the address when there is no answer */
export const openGateway = (url: string, fetch: ApiFetch): SaverGateway => {
  const base = url.replace(/\/+$/, '');
  const client = createClient(fetch, base);
  const repeated =
    <Input, Answer>(ask: (input: Input) => Promise<Answer>) =>
    async (input: Input): Promise<Answer> => {
      for (let tries = 1; ; tries++) {
        try {
          return await ask(input);
        } catch (error) {
          if (!AGAIN.some((code) => isStemmaError(error, code))) throw error;
          if (tries >= TRIES) throw isStemmaError(error, 'E_IO') ? gone(base, error) : error;
          await new Promise((resolve) => setTimeout(resolve, backOff(tries, PAUSES)));
        }
      }
    };
  return {
    start: repeated(client.start),
    command: repeated(client.command),
    history: repeated(client.history),
    branches: repeated(client.branches),
    histories: repeated(client.histories),
    export: repeated(client.export),
    events: repeated(client.events),
  };
};

const gone = (base: string, cause: unknown): StemmaError =>
  new StemmaError(
    'E_IO',
    `the gateway at ${base} does not answer: start it with \`stemma up\`, or give its url to StemmaSaver`,
    { url: base },
    { cause },
  );
