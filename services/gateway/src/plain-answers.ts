import type { Metrics } from '@stemma/metrics';
import type { HttpAnswer } from './front/answer.ts';
import { countRequest } from './http-metrics.ts';
import type { Asker } from './questions-apart/question-pool.ts';
import { honoPath } from './request.ts';
import { wholeEndpoints, type AnswerEndpoint } from './routes.ts';

/** A request that a server has let in, its body whole. */
export type PlainRequest = {
  readonly method: string;
  /** The path and the query, as the client sent them. */
  readonly target: string;
  /** @param name in lower case */
  readonly header: (name: string) => string | undefined;
  readonly body: Uint8Array | null;
  /** Aborts when the client is gone. */
  readonly signal: () => AbortSignal;
  readonly asker: Asker;
};

/**
 * Answers a request to an endpoint; undefined: it is for somebody else, and nothing was done. It throws nothing. The
 * headers that every answer has are added by who writes it.
 */
export type AnswerPlainly = (request: PlainRequest) => Promise<HttpAnswer> | undefined;

/** An address that means what it says: nothing in it is decoded, normalized or cut off. */
const PLAIN = /^[\w\-.~:/?&=@,!*]+$/;

/**
 * Answers the endpoints whose answers are known whole without making web requests and responses, which take longer than
 * a command. What has to be decoded in an address is left to the router of the rest, so that there is one such decoder.
 */
export const openPlainAnswers = (
  answer: AnswerEndpoint,
  toAnswer: (error: unknown) => HttpAnswer,
  metrics: Metrics,
): AnswerPlainly => {
  const find = openRoutes();
  return (request) => {
    const { target } = request;
    if (!PLAIN.test(target) || target.includes('/.')) return undefined;
    const at = target.indexOf('?');
    const [path, query] = at === -1 ? [target, ''] : [target.slice(0, at), target.slice(at + 1)];
    const found = find(request.method, path);
    if (found === undefined) return undefined;
    const { route, params } = found;
    const answered = countRequest(metrics, request.method);
    const parts = {
      params: () => params,
      query: () => queryOf(query),
      header: request.header,
      bytes: () => request.body ?? new Uint8Array(),
      signal: request.signal,
      asker: request.asker,
    };
    return answer(route.name, parts)
      .catch(toAnswer)
      .then((whole) => {
        answered(route.path, whole.status);
        return whole;
      });
  };
};

type Route = {
  readonly name: ReturnType<typeof wholeEndpoints>[number][0];
  /** As metrics name it. */
  readonly path: string;
  readonly segments: readonly string[];
};

type Found = { readonly route: Route; readonly params: Readonly<Record<string, string>> };

/** Routes by method and number of segments: of one such group only few differ in more than their parameters. */
const openRoutes = (): ((method: string, path: string) => Found | undefined) => {
  const groups = new Map<string, Route[]>();
  for (const [name, { method, path }] of wholeEndpoints()) {
    const route = { name, path: honoPath(path), segments: honoPath(path).split('/') };
    const key = `${method} ${route.segments.length}`;
    groups.set(key, [...(groups.get(key) ?? []), route]);
  }
  return (method, path) => {
    const segments = path.split('/');
    for (const route of groups.get(`${method} ${segments.length}`) ?? []) {
      const params = paramsOf(route.segments, segments);
      if (params !== undefined) return { route, params };
    }
    return undefined;
  };
};

const paramsOf = (
  route: readonly string[],
  segments: readonly string[],
): Readonly<Record<string, string>> | undefined => {
  const params: Record<string, string> = {};
  for (const [i, part] of route.entries()) {
    const segment = segments[i] as string;
    if (!part.startsWith(':')) {
      if (part !== segment) return undefined;
    } else if (segment === '') return undefined;
    else params[part.slice(1)] = segment;
  }
  return params;
};

/** Of a name that is given twice the first counts. */
const queryOf = (query: string): Readonly<Record<string, string>> => {
  // A name may be one that objects have from elsewhere.
  const found = Object.create(null) as Record<string, string>;
  for (const pair of query === '' ? [] : query.split('&')) {
    const at = pair.indexOf('=');
    const name = at === -1 ? pair : pair.slice(0, at);
    if (name === '' || Object.hasOwn(found, name)) continue;
    found[name] = at === -1 ? '' : pair.slice(at + 1);
  }
  return found;
};
