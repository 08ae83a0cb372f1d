import { MAX_KEPT } from '@stemma/events';
import { extension, PerMessageDeflate, Receiver } from 'ws';
import type { ExchangeEnding, ExchangeNotes } from './exchange-notes.ts';

/** Hears the bytes of a websocket, which go their way whatever it does. */
export type WebsocketWatch = {
  readonly fromClient: (bytes: Buffer) => void;
  readonly fromServer: (bytes: Buffer) => void;
  /** The connection has ended. @param byClient its client ended it */
  readonly ended: (byClient: boolean) => void;
};

/** What a server says over a websocket: a message that is the same as an event of a stream. */
const EVENT = { statusCode: 200, headers: { 'content-type': 'text/event-stream' } } as const;

/** Events of the Responses API behind which an answer has no more. */
const LAST: Readonly<Record<string, ExchangeEnding['status']>> = {
  'response.completed': 'answered',
  'response.incomplete': 'answered',
  'response.failed': 'answered',
  error: 'failed',
};

/**
 * Notes the calls of OpenAI's Responses API over a websocket: each `response.create` of the client is a request, and the messages of the
 * server up to `response.completed` are the events of its answer. A request is noted as the client wrote it; an answer as the
 * stream of events that it is over HTTP, each message behind `data: `.
 *
 * @param extensions what the server agreed to in `sec-websocket-extensions`
 * @param open notes of one more call
 */
export const watchResponses = (extensions: string | undefined, open: () => ExchangeNotes): WebsocketWatch => {
  let call: ExchangeNotes | undefined;
  const end = (ending: ExchangeEnding): void => {
    void call?.noteEnd(ending);
    call = undefined;
  };
  const fromClient = messagesOf(true, extensions, (text) => {
    if (typeIn(text) !== 'response.create') return;
    // One answer comes at a time: who asks once more does not want the other one.
    end({ status: 'cancelled', error: { code: null, message: 'the client asked once more before the end' } });
    call = open();
    call.sent.add(text);
    call.noteStart();
    call.markAnswered(EVENT);
  });
  const fromServer = messagesOf(false, extensions, (text) => {
    if (call === undefined) return;
    const last = LAST[typeIn(text) ?? ''];
    call.addAnswered(Buffer.concat([DATA, text, BREAK]), last !== undefined);
    if (last !== undefined) end({ status: last, error: null });
  });
  return {
    fromClient,
    fromServer,
    ended: (byClient) =>
      end(
        byClient
          ? { status: 'cancelled', error: { code: null, message: 'the client ended the connection' } }
          : { status: 'failed', error: { code: 'ECONNRESET', message: 'the upstream ended the connection' } },
      ),
  };
};

const DATA = Buffer.from('data: ');
const BREAK = Buffer.from('\n\n');

/** What a message says that it is; undefined: it is no object, or does not say so. */
const typeIn = (text: Buffer): string | undefined => {
  try {
    const value: unknown = JSON.parse(text.toString());
    if (typeof value !== 'object' || value === null || !('type' in value)) return undefined;
    return typeof value.type === 'string' ? value.type : undefined;
  } catch {
    return undefined;
  }
};

/** Reads the messages of one side. What cannot be read any more is let pass. */
const messagesOf = (
  isServer: boolean,
  extensions: string | undefined,
  hear: (text: Buffer) => void,
): ((bytes: Buffer) => void) => {
  let isOver = false;
  const receiver = new Receiver({
    isServer,
    extensions: agreed(isServer, extensions),
    maxPayload: MAX_KEPT,
  });
  receiver.on('message', (data: Buffer, isBinary: boolean) => {
    if (!isBinary) hear(data);
  });
  receiver.on('error', () => (isOver = true));
  receiver.on('conclude', () => (isOver = true));
  return (bytes) => {
    // It undoes the masks of a client where they stand, and these bytes are on their way.
    if (!isOver) receiver.write(Buffer.from(bytes));
  };
};

/** The extensions that both sides agreed to; of one that is not known the frames cannot be read. */
const agreed = (
  isServer: boolean,
  header: string | undefined,
): Readonly<Record<string, PerMessageDeflate>> => {
  const { extensionName } = PerMessageDeflate;
  try {
    const offered = header === undefined ? undefined : extension.parse(header)[extensionName];
    if (offered === undefined) return {};
    const read = new PerMessageDeflate({ isServer, maxPayload: MAX_KEPT });
    read.params = new PerMessageDeflate({ isServer: false }).accept(offered);
    return { [extensionName]: read };
  } catch {
    return {};
  }
};
