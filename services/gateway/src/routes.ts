import { ENDPOINTS, toWireJson, type Endpoint, type EndpointName } from '@stemma/api';
import type { Hono } from 'hono';
import type { Handlers } from './handlers.ts';
import { REPORT_SECURITY_POLICY } from './headers.ts';
import { honoPath, inputOf } from './request.ts';

/** Told of every answer that was asked for in somebody's name. */
type OnAnswered = (
  name: EndpointName,
  actor: string | undefined,
  input: Readonly<Record<string, unknown>>,
) => Promise<void>;

/** Routes every endpoint but the streams to its handler: parses what comes in, writes what goes out. */
export const routeEndpoints = (app: Hono, handlers: Handlers, onAnswered: OnAnswered): void => {
  for (const [name, endpoint] of Object.entries(ENDPOINTS) as [EndpointName, Endpoint][]) {
    if (name === 'stream' || name === 'ctreesStream' || name === 'watch' || name === 'interventionLines')
      continue;
    const handle = handlers[name] as (input: unknown) => Promise<unknown>;
    app.on(endpoint.method, honoPath(endpoint.path), async (c) => {
      const input = await inputOf(c, endpoint);
      const value = await handle(input);
      await onAnswered(name, c.req.header('stemma-actor'), input);
      return answer(endpoint, value);
    });
  }
};

const answer = ({ answer: kind }: Endpoint, value: unknown): Response => {
  if (kind.kind === 'json')
    return new Response(toWireJson(value), {
      status: kind.status,
      headers: { 'content-type': 'application/json' },
    });
  const mime = kind.kind === 'bytes' ? kind.mime : 'text/plain';
  return new Response(value as string, {
    headers: {
      'content-type': mime,
      ...(mime.startsWith('text/html') && { 'content-security-policy': REPORT_SECURITY_POLICY }),
    },
  });
};
