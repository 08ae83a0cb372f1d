import { fail } from '@stemma/errors';
import type { Readable } from 'node:stream';
import { openValueCounter } from './count-values.ts';
import type { GatewayLimits } from './limits.ts';

/** A body that has arrived, in pieces. What it holds of the common room is given back by `release`. */
export type ReceivedBody = { readonly chunks: readonly Buffer[]; readonly release: () => void };

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
    const isSmall = (bytes: number): boolean => bytes <= limits.small;
    const hold = (bytes: number): void => {
      if (isSmall(own)) small -= own;
      else large -= own;
      own = bytes;
      if (isSmall(own)) small += own;
      else large += own;
    };
    return {
      /** False, and nothing taken, if there is no room for so many bytes more. */
      take: (bytes: number): boolean => {
        const before = own;
        hold(own + bytes);
        if (small <= limits.smallBodies && large <= limits.bodies) return true;
        hold(before);
        return false;
      },
      release: (): void => hold(0),
    };
  };

  const watch = openRateWatch(RATE_INTERVAL);
  return async (body, length) => {
    if (length !== undefined && length > limits.body) throw tooLarge(limits);
    const share = openShare();
    try {
      const chunks = await receive(body, limits, share.take, watch);
      return { chunks, release: share.release };
    } catch (error) {
      share.release();
      throw error;
    }
  };
};

type RateWatch = { readonly add: (check: () => void) => void; readonly delete: (check: () => void) => void };

/** Calls checks again and again, as long as there are any: most bodies are there before a timer of their own would be. */
const openRateWatch = (interval: number): RateWatch => {
  const checks = new Set<() => void>();
  let timer: NodeJS.Timeout | undefined;
  const tick = (): void => {
    for (const check of checks) check();
    if (checks.size > 0) return;
    clearInterval(timer);
    timer = undefined;
  };
  return {
    add: (check) => {
      checks.add(check);
      timer ??= setInterval(tick, interval).unref();
    },
    delete: (check) => void checks.delete(check),
  };
};

const receive = (
  body: Readable,
  limits: BodyLimits,
  take: (bytes: number) => boolean,
  watch: RateWatch,
): Promise<readonly Buffer[]> =>
  new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    const counter = openValueCounter();
    const began = performance.now();
    let received = 0;
    /** What still comes of the body is not taken: the server closes the connection after the answer. */
    const end = (): void => {
      watch.delete(checkRate);
      body.off('data', onData).off('end', onEnd).off('error', onGone).off('close', onGone);
      body.pause();
    };
    const refuse = (error: Error): void => {
      end();
      reject(error);
    };
    const onData = (chunk: Buffer): void => {
      received += chunk.length;
      if (received > limits.body) refuse(tooLarge(limits));
      else if (!take(chunk.length))
        refuse(fail('E_BUSY', 'the bodies of other requests take all the room there is'));
      else if (counter.add(chunk) > limits.values)
        refuse(
          fail('E_INPUT_TOO_LARGE', `a request may have ${limits.values} values`, { limit: limits.values }),
        );
      else chunks.push(chunk);
    };
    const onEnd = (): void => {
      end();
      resolve(chunks);
    };
    const onGone = (): void => refuse(fail('E_CANCELLED', 'the client is gone'));
    const checkRate = (): void => {
      const seconds = (performance.now() - began) / 1000;
      if (seconds * 1000 >= limits.bodyGrace && received < limits.bodyRate * seconds)
        refuse(
          fail('E_REQUEST_SLOW', `the body brought ${received} bytes in ${Math.round(seconds)} s`, {
            received,
          }),
        );
    };
    watch.add(checkRate);
    body.on('data', onData).on('end', onEnd).on('error', onGone).on('close', onGone);
  });

const tooLarge = ({ body }: BodyLimits): Error =>
  fail('E_INPUT_TOO_LARGE', `a request may have ${body} bytes`, { limit: body });
