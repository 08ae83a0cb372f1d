import type { OutgoingMessage, ServerResponse } from 'node:http';
import { Http2ServerResponse } from 'node:http2';

/** Sends the head of an answer. @param headers names and values in turns */
export const writeHead = (
  outgoing: ServerResponse,
  status: number,
  message: string,
  headers: readonly string[],
): void => {
  if (isSecond(outgoing)) outgoing.writeHead(status, byName(headers));
  else outgoing.writeHead(status, message, [...headers]);
};

/** Has trailers follow the body. @param raw names and values in turns */
export const addTrailers = (outgoing: OutgoingMessage, raw: readonly string[]): void => {
  if (isSecond(outgoing)) outgoing.addTrailers(byName(raw));
  else outgoing.addTrailers(pairsOf(raw));
};

/** Node.js gives answers of HTTP/2 nearly the form of those of HTTP/1.1. */
const isSecond = (outgoing: unknown): outgoing is Http2ServerResponse =>
  outgoing instanceof Http2ServerResponse;

const byName = (raw: readonly string[]): Record<string, string[]> => {
  const named: Record<string, string[]> = Object.create(null) as Record<string, string[]>;
  for (const [name, value] of pairsOf(raw)) (named[name.toLowerCase()] ??= []).push(value);
  return named;
};

const pairsOf = (raw: readonly string[]): [string, string][] => {
  const pairs: [string, string][] = [];
  for (let i = 0; i < raw.length; i += 2) pairs.push([raw[i] as string, raw[i + 1] as string]);
  return pairs;
};
