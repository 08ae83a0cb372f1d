import type { CallEnding, OpenCall } from './call-recorder.ts';
import { endOfError } from './end-of-error.ts';

/** The most bytes of a body that are kept. */
const MOST = 40 * 1024 * 1024;

/** So much of an error that its reader left is waited for. */
const REST = { bytes: 64 * 1024, milliseconds: 500 };

/**
 * The same response. Its bytes are copied on their way; when they have ended the call is kept, and then the reader learns of it.
 *
 * @param began when its request was sent, by the clock of the process
 */
export const watchResponse = (
  response: Response,
  call: OpenCall,
  signal: AbortSignal | null,
  began: number,
): Response | Promise<Response> => {
  const { status, headers } = response;
  const contentType = headers.get('content-type');
  let firstByte: number | null = null;
  let pieces: Uint8Array[] | null = [];
  let size = 0;
  const answer = (): CallEnding['response'] => ({
    form: 'wire',
    http_status: status,
    content_type: contentType,
    retry_after: headers.get('retry-after'),
    body: pieces,
  });
  const done = (): CallEnding => ({ ...endOfStatus(status), response: answer(), first_byte_ms: firstByte });
  const noteEnd = (ending: () => CallEnding): Promise<void> | undefined => call.end(ending());
  const { body } = response;
  // Responses of other kinds than the web's are not ours to take apart.
  if (body === null || typeof body.getReader !== 'function' || response.bodyUsed) {
    if (body !== null) pieces = null;
    const kept = noteEnd(done);
    return kept === undefined ? response : kept.then(() => response);
  }
  const reader = body.getReader() as ReadableStreamDefaultReader<Uint8Array>;
  const broken = (error: unknown): Promise<void> | undefined =>
    noteEnd(() =>
      // Who has read of an error what it wants to know leaves the rest.
      status >= 400 ? done() : endOfError(error, signal, answer(), firstByte),
    );
  const restOfError = async (): Promise<void> => {
    const late = setTimeout(() => void noteEnd(done), REST.milliseconds);
    try {
      for (let next = await reader.read(); !next.done && size < REST.bytes; next = await reader.read()) {
        size += next.value.length;
        pieces?.push(next.value.slice());
      }
    } finally {
      clearTimeout(late);
      await noteEnd(done);
    }
  };
  reader.closed.catch((error: unknown) => void broken(error));
  const copied = new ReadableStream<Uint8Array>(
    {
      pull: async (controller) => {
        try {
          const next = await reader.read();
          if (next.done) {
            await noteEnd(done);
            controller.close();
            return;
          }
          firstByte ??= performance.now() - began;
          size += next.value.length;
          if (size > MOST) pieces = null;
          pieces?.push(next.value.slice());
          controller.enqueue(next.value);
        } catch (error) {
          await broken(error);
          controller.error(error);
        }
      },
      cancel: async (reason) => {
        if (status >= 400) {
          // Clients that try again leave the reason unread; it is on its way already.
          void restOfError()
            .then(() => reader.cancel(reason))
            .catch(() => undefined);
          return;
        }
        await broken(new DOMException('the client ended the call', 'AbortError'));
        await reader.cancel(reason);
      },
    },
    { highWaterMark: 0 },
  );
  return likeness(response, copied);
};

const endOfStatus = (status: number): Pick<CallEnding, 'status' | 'error'> => {
  if (status < 400) return { status: 'answered', error: null };
  return { status: status === 408 || status === 504 ? 'timed out' : 'failed', error: null };
};

/** A response with another body. What a constructor does not take is set on it. */
const likeness = (response: Response, body: ReadableStream<Uint8Array>): Response => {
  const { status, statusText, headers, url, redirected, type } = response;
  const Own = response.constructor as typeof Response;
  const made = new Own(body, { status, statusText, headers });
  Object.defineProperties(made, {
    url: { value: url },
    redirected: { value: redirected },
    type: { value: type },
  });
  return made;
};
