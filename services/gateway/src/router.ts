import { ENDPOINTS } from '@stemma/api';
import { fail } from '@stemma/errors';
import { readHeaders, type HttpAnswers, type Client, type ResourceName, type RouteName } from './answers.ts';
import type { HttpAnswer, StreamedAnswer } from './front/answer.ts';
import { refuseForeign } from './guard.ts';

/** What answers a request, and what its address says of it. */
export type Route = {
  readonly name: RouteName;
  readonly params: Readonly<Record<string, string>>;
  readonly query: string;
};

const RESOURCES: Readonly<Record<ResourceName, string>> = {
  page: '/',
  openApi: '/openapi.json',
  metrics: '/metrics',
  asset: '/assets/{name}',
};

/** The name of a parameter, or a text that has to be there. */
type Segment = { readonly param: string } | { readonly literal: string };
type Pattern = {
  readonly segments: readonly Segment[];
  /** What answers each method. A stream has no HEAD: there is nothing to say of it without opening it. */
  readonly methods: Map<string, RouteName>;
};

/** The paths by their number of segments; of one such group few differ in nothing but their parameters. */
const PATTERNS: ReadonlyMap<number, readonly Pattern[]> = (() => {
  const found = new Map<string, Pattern>();
  const add = (path: string, name: RouteName, ...methods: readonly string[]): void => {
    const pattern = found.get(path) ?? { segments: path.split('/').map(segmentOf), methods: new Map() };
    for (const method of methods) pattern.methods.set(method, name);
    found.set(path, pattern);
  };
  for (const [name, { method, path, answer }] of Object.entries(ENDPOINTS))
    if (method === 'GET' && answer.kind !== 'stream') add(path, name as RouteName, 'GET', 'HEAD');
    else add(path, name as RouteName, method);
  for (const [name, path] of Object.entries(RESOURCES)) add(path, name as RouteName, 'GET', 'HEAD');
  return Map.groupBy(found.values(), ({ segments }) => segments.length);
})();

function segmentOf(text: string): Segment {
  const param = /^\{(\w+)\}$/.exec(text)?.[1];
  return param === undefined ? { literal: text } : { param };
}

/** What metrics call a route: never the path itself, of which there is one a history. */
const LABELS: Readonly<Record<string, string>> = Object.fromEntries(
  [...Object.entries(ENDPOINTS).map(([name, { path }]) => [name, path]), ...Object.entries(RESOURCES)].map(
    ([name = '', path = '']) => [name, path.replace(/\{(\w+)\}/g, ':$1')],
  ),
);
export const labelOf = (name: RouteName): string => LABELS[name] as string;

/**
 * Finds what answers a request.
 *
 * @param target the path and the query, as the client sent them
 * @throws E_NOT_FOUND, which does not repeat the path: it may hold secrets; E_METHOD_NOT_ALLOWED with the methods that the path has;
 *   E_USAGE for what names no address
 */
export const routeOf = (method: string, target: string): Route => {
  const { segments, query } = addressOf(target);
  const allowed: string[] = [];
  for (const pattern of PATTERNS.get(segments.length) ?? []) {
    const params = paramsOf(pattern.segments, segments);
    if (params === undefined) continue;
    const name = pattern.methods.get(method);
    if (name !== undefined) return { name, params, query };
    allowed.push(...pattern.methods.keys());
  }
  if (allowed.length === 0) throw fail('E_NOT_FOUND', 'there is nothing at this address');
  throw fail('E_METHOD_NOT_ALLOWED', `this address takes ${allowed.join(', ')}, not ${method.slice(0, 20)}`, {
    allow: allowed.join(', '),
  });
};

const paramsOf = (
  pattern: readonly Segment[],
  segments: readonly string[],
): Readonly<Record<string, string>> | undefined => {
  const params: Record<string, string> = {};
  for (let i = 0; i < pattern.length; i++) {
    const part = pattern[i] as Segment;
    const segment = segments[i] as string;
    if ('literal' in part) {
      if (part.literal !== segment) return undefined;
    } else if (segment === '') return undefined;
    else params[part.param] = segment;
  }
  return params;
};

/** An address that means what it says: nothing in it is decoded, normalized or cut off. */
const PLAIN = /^[\w\-.~:/?&=@,!*]+$/;

/** The parts of an address. What has to be normalized is read as a browser reads it; then each part of the path is decoded. */
const addressOf = (target: string): { readonly segments: readonly string[]; readonly query: string } => {
  if (PLAIN.test(target) && !target.includes('/.')) {
    const at = target.indexOf('?');
    if (at === -1) return { segments: target.split('/'), query: '' };
    return { segments: target.slice(0, at).split('/'), query: target.slice(at + 1) };
  }
  const parsed = URL.parse(`http://localhost${target}`);
  if (parsed === null) throw fail('E_USAGE', 'the request names no address of this server');
  return { segments: parsed.pathname.split('/').map(decoded), query: parsed.search.slice(1) };
};

/** Escapes that are no UTF-8 stay as they are. */
const decoded = (text: string): string => {
  if (!text.includes('%')) return text;
  try {
    return decodeURIComponent(text);
  } catch {
    return text.replace(/(?:%[\dA-Fa-f]{2})+/g, (escapes) => {
      try {
        return decodeURIComponent(escapes);
      } catch {
        return escapes;
      }
    });
  }
};

/** The parameters of a query. Of a name that is given twice the first counts. */
export const queryOf = (query: string): Readonly<Record<string, string>> => {
  // A name may be one that objects have from elsewhere.
  const found = Object.create(null) as Record<string, string>;
  for (const pair of query === '' ? [] : query.split('&')) {
    const at = pair.indexOf('=');
    const name = queryText(at === -1 ? pair : pair.slice(0, at));
    if (name === '' || Object.hasOwn(found, name)) continue;
    found[name] = at === -1 ? '' : queryText(pair.slice(at + 1));
  }
  return found;
};

const queryText = (text: string): string => decoded(text.replaceAll('+', ' '));

/** What a request says before its body. */
export type RequestHead = {
  readonly method: string;
  /** The name that the client called, with its port. */
  readonly host: string;
  /** The path and the query, as they were sent. */
  readonly target: string;
  /** @param name in lower case */
  readonly header: (name: string) => string | undefined;
};

/** What lets requests in. */
export type Door = {
  /** What answers a request: known before its body is read. @throws E_NOT_ALLOWED, E_NOT_FOUND, E_METHOD_NOT_ALLOWED, E_USAGE */
  readonly find: (head: RequestHead) => Route;
  readonly answer: (
    route: Route,
    request: RequestHead & { readonly body: readonly Uint8Array[] | null },
    client: Client,
  ) => Promise<HttpAnswer | StreamedAnswer>;
};

/** @param hosts the values of `Host` that are its own, with port */
export const openDoor = (answers: HttpAnswers, hosts: (host: string) => boolean): Door => ({
  find: ({ method, host, target, header }) => {
    refuseForeign({ host, path: pathOf(target), header }, hosts);
    return routeOf(method, target);
  },
  answer: ({ name, params, query }, { method, header, body }, client) =>
    answers.ask(name, { method, params, query, headers: readHeaders(header), body }, client),
});

/** The path of a target, as it was sent. */
export const pathOf = (target: string): string => {
  const query = target.indexOf('?');
  return query === -1 ? target : target.slice(0, query);
};
