import { Agent as HttpAgent, request as httpRequest, type ClientRequest } from 'node:http';
import { Agent as HttpsAgent, request as httpsRequest } from 'node:https';
import { upstreamTrust } from './trusted-roots.ts';

/** Connections to upstreams that are kept; shorter than servers keep them, so that none is used that is about to end. */
const AGENT = { keepAlive: true, timeout: 4_000, maxFreeSockets: 256 } as const;

const AGENTS = { 'http:': new HttpAgent(AGENT), 'https:': new HttpsAgent(AGENT) } as const;

/** Bytes of the head of an answer that are read; servers send less. */
const MAX_HEAD = 256 * 1024;

export type ToUpstream = {
  readonly method: string;
  readonly path: string;
  /** Names and values in turns, with `Host`. */
  readonly headers: readonly string[];
  /** True: its connection is for nothing else. */
  readonly alone?: boolean;
};

/** A request to an upstream, of which nothing is sent yet. */
export const upstreamRequest = (
  upstream: URL,
  { method, path, headers, alone = false }: ToUpstream,
): ClientRequest => {
  const isTls = upstream.protocol === 'https:';
  const made = (isTls ? httpsRequest : httpRequest)({
    protocol: upstream.protocol,
    hostname: upstream.hostname.replace(/^\[|\]$/g, ''),
    port: upstream.port === '' ? (isTls ? 443 : 80) : Number(upstream.port),
    method,
    path,
    headers: [...headers],
    agent: alone ? false : AGENTS[isTls ? 'https:' : 'http:'],
    ...(isTls && { secureContext: upstreamTrust() }),
    setHost: false,
    maxHeaderSize: MAX_HEAD,
  });
  made.setNoDelay(true);
  return made;
};

/** What is said of an upstream that failed: the message of its error may hold an address, and nothing else. */
export const upstreamError = (code: string | undefined): { code: string | null; message: string } => ({
  code: code ?? null,
  message: `the upstream cannot be reached or ended the connection (${code ?? 'unknown'})`,
});

/** The body of the answer to a client whose upstream failed. */
export const upstreamErrorBody = ({
  code,
  message,
}: {
  readonly code: string | null;
  readonly message: string;
}): string => JSON.stringify({ error: { type: 'upstream_error', code, message } });
