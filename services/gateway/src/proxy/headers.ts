import { HOP_BY_HOP } from '../front/hop-by-hop.ts';

/** Headers of a request that the upstream has no use for: they are about this server. */
const OWN: ReadonlySet<string> = new Set(['host', 'expect', 'x-stemma-history']);

/** Headers as they came, names and values in turns, without those about the connection. */
export const forwardedHeaders = (raw: readonly string[], direction: 'request' | 'response'): string[] => {
  const listed = new Set<string>();
  for (let i = 0; i < raw.length; i += 2)
    if (raw[i]?.toLowerCase() === 'connection')
      for (const name of (raw[i + 1] ?? '').split(',')) listed.add(name.trim().toLowerCase());
  const kept: string[] = [];
  for (let i = 0; i < raw.length; i += 2) {
    const name = raw[i] as string;
    const lower = name.toLowerCase();
    if (HOP_BY_HOP.has(lower) || listed.has(lower) || (direction === 'request' && OWN.has(lower))) continue;
    kept.push(name, raw[i + 1] as string);
  }
  return kept;
};

/** Headers that are about the body that came. */
const OF_BODY: ReadonlySet<string> = new Set([
  'content-length',
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
