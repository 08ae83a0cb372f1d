import { VERSION } from '@stemma/errors';
import { isLoopback } from '@stemma/machine';
import { openMetrics } from '@stemma/metrics';
import type { Client } from './answers.ts';
import { toResponse, type HttpAnswer, type StreamedAnswer } from './front/answer.ts';
import { countRefusal } from './front/door-counts.ts';
import { errorAnswer } from './front/error-answer.ts';
import { withSafeHeaders } from './headers.ts';
import { openHomeAnswers, type HomeAnswersOptions } from './home-answers.ts';
import { openDoor } from './router.ts';

export type GatewayOptions = Omit<HomeAnswersOptions, 'metrics'> & {
  /** The values of `Host` to answer to; any loopback name unless said. */
  readonly hosts?: (host: string) => boolean;
  /** Its own unless given. */
  readonly metrics?: HomeAnswersOptions['metrics'];
};

/** The HTTP door of a home without a port: a function from web requests to web answers. */
export type WebGateway = {
  readonly fetch: (request: Request) => Promise<Response>;
  /** The same for a path of this machine. */
  readonly request: (path: string, options?: RequestInit) => Promise<Response>;
};

export const createGateway = (options: GatewayOptions): WebGateway => {
  const metrics = options.metrics ?? openMetrics({ service: 'gateway', version: VERSION, ofProcess: false });
  const hosts = options.hosts ?? ((host: string) => isLoopback(host.replace(/:\d+$/, '')));
  const door = openDoor(openHomeAnswers({ ...options, metrics }), hosts);
  const answer = async (request: Request): Promise<HttpAnswer | StreamedAnswer> => {
    const { method, url, headers, signal } = request;
    const { host, pathname, search } = new URL(url);
    const head = {
      method,
      host: headers.get('host') ?? host,
      target: pathname + search,
      header: (name: string) => headers.get(name) ?? undefined,
    };
    try {
      const route = door.find(head);
      const body = method === 'POST' ? [new Uint8Array(await request.arrayBuffer())] : null;
      return await door.answer(route, { ...head, body }, clientOf(signal));
    } catch (error) {
      countRefusal((name, labels) => metrics.add(name, labels), method, error);
      return errorAnswer(error);
    }
  };
  const fetch = async (request: Request): Promise<Response> => {
    const given = await answer(request);
    return toResponse({ ...given, headers: withSafeHeaders(given.headers) });
  };
  return {
    fetch,
    request: (path, options) => fetch(new Request(new URL(path, 'http://localhost'), options)),
  };
};

const clientOf = (signal: AbortSignal): Client => ({
  connection: signal,
  program: async () => '',
  onGone: (act) => (signal.aborted ? act() : signal.addEventListener('abort', act, { once: true })),
});
