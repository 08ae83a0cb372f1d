import type { EndpointName } from '@stemma/api';
import type { HttpAnswer, StreamedAnswer } from './front/answer.ts';

/** What a gateway serves beside the endpoints of the contract. */
export type ResourceName = 'page' | 'asset' | 'openApi' | 'metrics';
export type RouteName = EndpointName | ResourceName;

/** What a client gives, as it came: it is parsed and checked where the answer is made. */
export type GivenInput = {
  readonly method: string;
  /** The parameters of the path, decoded. */
  readonly params: Readonly<Record<string, string>>;
  /** What stands behind the `?`. */
  readonly query: string;
  /** Those of `READ_HEADERS` that came. */
  readonly headers: Readonly<Record<string, string>>;
  /** In pieces: large ones move from thread to thread as they came. Null for a method without a body. */
  readonly body: readonly Uint8Array[] | null;
};

/** The headers that mean something to an answer, in lower case. */
const READ_HEADERS = [
  ...['content-type', 'content-encoding', 'idempotency-key', 'if-match', 'last-event-id', 'stemma-actor'],
];

export const readHeaders = (
  header: (name: string) => string | undefined,
): Readonly<Record<string, string>> => {
  const found: Record<string, string> = {};
  for (const name of READ_HEADERS) {
    const value = header(name);
    if (value !== undefined) found[name] = value;
  }
  return found;
};

/** The two ports of a connection between this machine and itself, as the server sees them. */
export type ClientPorts = { readonly remote: number; readonly local: number };

/** Who asks. */
export type Client = {
  readonly connection: object | number | string;
  /** Of the connection, where it is one of a server. */
  readonly ports?: ClientPorts;
  /** The program that the connection belongs to; one of its own where that cannot be known. Called where questions wait. */
  readonly program: () => Promise<string>;
  /** Calls one function when nobody waits for the answer any more: at once if that is so already. */
  readonly onGone: (act: () => void) => void;
};

export const signalOf = ({ onGone }: Client): AbortSignal => {
  const gone = new AbortController();
  onGone(() => gone.abort());
  return gone.signal;
};

/** What answers for a home: who asks does not know in which thread or process the answer is made. */
export type HttpAnswers = {
  /** @throws coded errors, of which a client may be told as they are */
  readonly ask: (name: RouteName, input: GivenInput, client: Client) => Promise<HttpAnswer | StreamedAnswer>;
};
