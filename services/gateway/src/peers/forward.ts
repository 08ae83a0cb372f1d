import { Agent, request as httpRequest } from 'node:http';
import type { HttpAnswer } from '../front/answer.ts';
import { HOP_BY_HOP } from '../front/hop-by-hop.ts';
import type { FrontRequest } from '../front/open-front.ts';

/** A request with this header was forwarded once, and is answered where it arrives. */
export const FORWARDED = 'stemma-forwarded';

/** Headers that belong to one connection, or are set anew. */
const OWN: ReadonlySet<string> = new Set([...HOP_BY_HOP, 'content-length', 'date', 'expect', 'host']);

const agent = new Agent({ keepAlive: true, maxSockets: 64, timeout: 15_000 });

/** An answer of another gateway has at most so many bytes. */
const MAX_ANSWER = 64 * 1024 * 1024;

/**
 * Sends a request to another gateway and gives its answer. It throws if there is none within the deadline; what became of the
 * request is unknown then.
 *
 * @param by the id of this gateway
 */
export const forward = (
  url: string,
  { method, target, headers, body }: FrontRequest,
  by: string,
  deadline: number,
): Promise<HttpAnswer> =>
  new Promise((resolve, reject) => {
    const passed = headers().filter(([name]) => !OWN.has(name));
    const length = (body ?? []).reduce((sum, piece) => sum + piece.length, 0);
    const outgoing = httpRequest(new URL(target, url), {
      agent,
      method,
      headers: { ...Object.fromEntries(passed), [FORWARDED]: by, 'content-length': length },
      signal: AbortSignal.timeout(deadline),
    });
    outgoing.on('error', reject);
    outgoing.on('response', (incoming) => {
      const pieces: Buffer[] = [];
      let size = 0;
      incoming.on('data', (piece: Buffer) => {
        size += piece.length;
        if (size > MAX_ANSWER) incoming.destroy(new Error('the answer is too large'));
        else pieces.push(piece);
      });
      incoming.on('error', reject);
      incoming.on('end', () => {
        const kept = Object.entries(incoming.headers).flatMap(([name, value]) =>
          value === undefined || OWN.has(name) ? [] : [[name, String(value)] as const],
        );
        resolve({
          status: incoming.statusCode ?? 502,
          headers: Object.fromEntries(kept),
          body: new Uint8Array(Buffer.concat(pieces)),
        });
      });
    });
    for (const piece of body ?? []) outgoing.write(piece);
    outgoing.end();
  });
