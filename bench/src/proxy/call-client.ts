import { once } from 'node:events';
import { Agent, request, type IncomingMessage } from 'node:http';

/** Milliseconds from the request to the first byte of its answer's body, and to the last one. */
export type CallTimes = { readonly first: number; readonly whole: number };

export type CallClient = {
  /** @throws an Error unless it is answered with 200 */
  readonly call: (body: string) => Promise<CallTimes>;
  readonly close: () => void;
};

/** A client of an API of models that keeps its connections. */
export const openCallClient = (url: string, key: string): CallClient => {
  const agent = new Agent({ keepAlive: true });
  const { hostname, port, pathname } = new URL(url);
  const call = async (body: string): Promise<CallTimes> => {
    const began = performance.now();
    const sent = request({
      ...{ agent, hostname, port, path: `${pathname}/chat/completions`, method: 'POST' },
      headers: {
        'content-type': 'application/json',
        'content-length': Buffer.byteLength(body),
        authorization: `Bearer ${key}`,
      },
    });
    sent.end(body);
    const [response] = (await once(sent, 'response')) as [IncomingMessage];
    let first: number | undefined;
    response.on('data', () => (first ??= performance.now() - began));
    await once(response, 'end');
    const whole = performance.now() - began;
    if (response.statusCode !== 200) throw new Error(`a call was answered with ${response.statusCode ?? 0}`);
    return { first: first ?? whole, whole };
  };
  return { call, close: () => agent.destroy() };
};
