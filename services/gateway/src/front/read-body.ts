import { fail } from '@stemma/errors';
import type { Readable } from 'node:stream';
import { openValueCounter } from './count-values.ts';
import type { GatewayLimits } from './limits.ts';

/** A body that has arrived. What it holds of the common room is given back by `release`. */
export type ReceivedBody = { readonly bytes: Uint8Array<ArrayBuffer>; readonly release: () => void };

/**
 * Receives a body.
 *
 * @param length what the request says of its length, if it says it.
 * @throws E_INPUT_TOO_LARGE for too many bytes or values, E_BUSY when the bodies of others take all the room,
 *   E_REQUEST_SLOW, E_CANCELLED when the client is gone: each as soon as it is known.
 */
export type ReadBody = (body: Readable, length: number | undefined) => Promise<ReceivedBody>;

type BodyLimits = Pick<
  GatewayLimits,
  'body' | 'values' | 'bodies' | 'small' | 'smallBodies' | 'bodyGrace' | 'bodyRate'
>;

/** How often a body's rate is looked at, in milliseconds. */
const RATE_INTERVAL = 250;

/** Receives bodies within bounds for one of them and for all of them together. */
export const openBodyReader = (limits: BodyLimits): ReadBody => {
  let small = 0;
  let large = 0;

  /** What one body holds of the common room: as many bytes as have arrived, whatever it says of its length. */
  const openShare = () => {
    let own = 0;
    const take = (bytes: number): void => {
      const wasSmall = own <= limits.small;
      const isSmall = own + bytes <= limits.small;
      if (isSmall ? small + bytes > limits.smallBodies : large + bytes + (wasSmall ? own : 0) > limits.bodies)
        throw fail('E_BUSY', 'the bodies of other requests take all the room there is');
      if (isSmall) small += bytes;
      else {
        large += bytes + (wasSmall ? own : 0);
        if (wasSmall) small -= own;
      }
      own += bytes;
    };
    const release = (): void => {
      if (own <= limits.small) small -= own;
      else large -= own;
      own = 0;
    };
    return { take, release };
  };

  return async (body, length) => {
    if (length !== undefined && length > limits.body) throw tooLarge(limits);
    const share = openShare();
    try {
      const bytes = await receive(body, limits, share.take);
      return { bytes, release: share.release };
    } catch (error) {
      share.release();
      throw error;
    }
  };
};

const receive = (
  body: Readable,
  limits: BodyLimits,
  take: (bytes: number) => void,
): Promise<Uint8Array<ArrayBuffer>> =>
  new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    const counter = openValueCounter();
    const began = performance.now();
    let received = 0;
    const onData = (chunk: Buffer): void => {
      try {
        received += chunk.length;
        if (received > limits.body) throw tooLarge(limits);
        take(chunk.length);
        if (counter.add(chunk) > limits.values)
          throw fail('E_INPUT_TOO_LARGE', `a request may have ${limits.values} values`, {
            values: limits.values,
          });
        chunks.push(chunk);
      } catch (error) {
        end(() => reject(error));
      }
    };
    const onEnd = (): void => end(() => resolve(joined(chunks, received)));
    const onGone = (): void => end(() => reject(fail('E_CANCELLED', 'the client is gone')));
    const pace = setInterval(() => {
      const elapsed = performance.now() - began;
      if (elapsed < limits.bodyGrace || received >= (limits.bodyRate * elapsed) / 1000) return;
      end(() =>
        reject(
          fail('E_REQUEST_SLOW', `the body brought ${received} bytes in ${Math.round(elapsed / 1000)} s`, {
            received,
          }),
        ),
      );
    }, RATE_INTERVAL);
    /** What still comes of the body is not taken: the server closes the connection after the answer. */
    const end = (settle: () => void): void => {
      clearInterval(pace);
      body.off('data', onData).off('end', onEnd).off('error', onGone).off('close', onGone);
      body.pause();
      settle();
    };
    body.on('data', onData).on('end', onEnd).on('error', onGone).on('close', onGone);
  });

const joined = (chunks: readonly Buffer[], length: number): Uint8Array<ArrayBuffer> => {
  const bytes = new Uint8Array(length);
  let at = 0;
  for (const chunk of chunks) {
    bytes.set(chunk, at);
    at += chunk.length;
  }
  return bytes;
};

const tooLarge = ({ body }: BodyLimits): Error =>
  fail('E_INPUT_TOO_LARGE', `a request may have ${body} bytes`, { limit: body });
