import type { LiveUpstream } from '@stemma/reruns';
import type { IncomingMessage } from 'node:http';
import { HOP_BY_HOP } from '../front/hop-by-hop.ts';

/** Headers of a request that are about this server. */
const OWN: ReadonlySet<string> = new Set(['x-stemma-history']);

/**
 * What says where the body of a request ends. Node.js writes the body of a DELETE or GET as it is, unless one of these is there:
 * then its bytes would be another request for the upstream. So no client can take them out by naming them in `connection`.
 */
const FRAMING: ReadonlySet<string> = new Set(['content-length', 'transfer-encoding']);

/** Methods whose requests Node.js sends without a body, unless one of these headers is there. */
const BODILESS: ReadonlySet<string> = new Set(['GET', 'HEAD', 'DELETE', 'OPTIONS', 'TRACE', 'CONNECT']);

/**
 * The headers of a request as they are sent on: in their order, with the name of the upstream's host where that of this server stood.
 * One without a body says so, where Node.js would send an empty one in chunks.
 */
export const requestHeaders = (
  { method = 'GET', rawHeaders, httpVersionMajor }: IncomingMessage,
  host: string,
): string[] => {
  const isFirst = httpVersionMajor < 2;
  const kept = withHost(forwardedHeaders(isFirst ? rawHeaders : fromSecond(rawHeaders), 'request'), host);
  const isFramed = kept.some((name, i) => i % 2 === 0 && FRAMING.has(name.toLowerCase()));
  // HTTP/2 says where a body ends without a header.
  return isFramed || !isFirst || BODILESS.has(method) ? kept : [...kept, 'Content-Length', '0'];
};

/** Headers of HTTP/2 as HTTP/1.1 has them: the host is one of them, and method and path are in the first line. */
const fromSecond = (raw: readonly string[]): string[] => {
  const kept: string[] = [];
  for (let i = 0; i < raw.length; i += 2) {
    const name = raw[i] as string;
    if (name === ':authority') kept.push('host', raw[i + 1] as string);
    else if (!name.startsWith(':')) kept.push(name, raw[i + 1] as string);
  }
  return kept;
};

/** The headers with another host. @param host stands first where the client named none: HTTP/1.1 needs one */
export const withHost = (headers: readonly string[], host: string): string[] => {
  const at = headers.findIndex((name, i) => i % 2 === 0 && name.toLowerCase() === 'host');
  return at === -1 ? ['Host', host, ...headers] : headers.with(at + 1, host);
};

/**
 * Headers as they came, names and values in turns, without those about the connection. Those of a request that say where its body
 * ends stay.
 */
export const forwardedHeaders = (raw: readonly string[], direction: 'request' | 'response'): string[] => {
  const listed = new Set<string>();
  for (let i = 0; i < raw.length; i += 2)
    if (raw[i]?.toLowerCase() === 'connection')
      for (const name of (raw[i + 1] ?? '').split(',')) listed.add(name.trim().toLowerCase());
  const kept: string[] = [];
  for (let i = 0; i < raw.length; i += 2) {
    const name = raw[i] as string;
    const lower = name.toLowerCase();
    const isFraming = direction === 'request' && FRAMING.has(lower);
    const isAboutConnection = HOP_BY_HOP.has(lower) || listed.has(lower);
    if ((isAboutConnection && !isFraming) || (direction === 'request' && OWN.has(lower))) continue;
    kept.push(name, raw[i + 1] as string);
  }
  return kept;
};

/** Headers that are about the body that came. */
const OF_BODY: ReadonlySet<string> = new Set([
  ...FRAMING,
  'content-encoding',
  'content-md5',
  'digest',
  'content-digest',
]);

/** The same headers for another body, which has no content coding. */
export const headersOfBody = (forwarded: readonly string[], size: number): string[] => {
  const kept: string[] = [];
  for (let i = 0; i < forwarded.length; i += 2) {
    const name = forwarded[i] as string;
    if (!OF_BODY.has(name.toLowerCase())) kept.push(name, forwarded[i + 1] as string);
  }
  return [...kept, 'Content-Length', String(size)];
};

/** Headers that are a key, or say whose account pays. */
const OF_ACCOUNT: ReadonlySet<string> = new Set([
  'authorization',
  'x-api-key',
  'api-key',
  'x-goog-api-key',
  'x-amz-security-token',
  'cookie',
  'openai-organization',
  'openai-project',
]);

/** The headers of a request that goes to another address than its client meant: its key goes to its own provider only. */
export const headersForOther = (
  forwarded: readonly string[],
  { url, headers }: LiveUpstream,
  upstream: URL,
): string[] => {
  const own = new Map(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]));
  const hasKey = [...own.keys()].some((name) => OF_ACCOUNT.has(name));
  const kept: string[] = [];
  for (let i = 0; i < forwarded.length; i += 2) {
    const name = (forwarded[i] as string).toLowerCase();
    if (OF_ACCOUNT.has(name) && (hasKey || url.origin !== upstream.origin)) continue;
    // A client knows best which version of its API it reads.
    own.delete(name);
    kept.push(forwarded[i] as string, forwarded[i + 1] as string);
  }
  return [...kept, ...[...own].flat()];
};
