import { platform } from '#call-platform';
import { openRecordingFetch, type FetchFunction, type RecordingFetchOptions } from './recording-fetch.ts';

/** A client as `openai` and `@anthropic-ai/sdk` have it, and those made like them. */
type MadeClient = {
  withOptions(options: { readonly fetch: FetchFunction }): unknown;
  readonly fetch?: FetchFunction;
};

/**
 * The client, with its calls recorded: they go where they would have gone, with the same keys, retries and timeouts. The client that
 * is given is not changed. One that is of no known kind is returned as it is, and said (calls §7.4).
 */
export const record = <Client extends object>(
  client: Client,
  options: RecordingFetchOptions = {},
): Client => {
  const warn = options.warn ?? platform.say;
  try {
    if (isMadeClient(client)) {
      const fetch = openRecordingFetch(
        { ...(client.fetch && { fetch: client.fetch }), ...options },
        'record',
      );
      return client.withOptions({ fetch }) as Client;
    }
    warn('the client is of no known kind: give it recordingFetch(), or say its calls with recordCall()');
  } catch (error) {
    warn(`the calls of the client are not recorded: ${String(error)}`);
  }
  return client;
};

const isMadeClient = (client: object): client is MadeClient =>
  'withOptions' in client && typeof client.withOptions === 'function';
