import { ENDPOINTS, HEAVY, toWireJson, type Endpoint, type EndpointName } from '@stemma/api';
import type { Context, Hono } from 'hono';
import type { Handlers } from './handlers.ts';
import { REPORT_SECURITY_POLICY } from './headers.ts';
import type { Asker, QuestionPool } from './questions-apart/question-pool.ts';
import { honoPath, inputOf } from './request.ts';

/** Told of every answer that was asked for in somebody's name. */
type OnAnswered = (
  name: EndpointName,
  actor: string | undefined,
  input: Readonly<Record<string, unknown>>,
) => Promise<void>;

/** Routes every endpoint but the streams to its handler: parses what comes in, writes what goes out. */
export const routeEndpoints = (
  app: Hono,
  handlers: Handlers,
  onAnswered: OnAnswered,
  questions: QuestionPool | undefined,
): void => {
  for (const [name, endpoint] of Object.entries(ENDPOINTS) as [EndpointName, Endpoint][]) {
    if (name === 'stream' || name === 'ctreesStream' || name === 'watch' || name === 'interventionLines')
      continue;
    const handle = handlers[name] as (input: unknown) => Promise<unknown>;
    app.on(endpoint.method, honoPath(endpoint.path), async (c) => {
      const input = await inputOf(c, endpoint);
      const value =
        questions !== undefined && HEAVY.has(name)
          ? await questions.ask(name, input, askerOf(c), c.req.raw.signal)
          : await handle(input);
      await onAnswered(name, c.req.header('stemma-actor'), input);
      return answer(endpoint, value);
    });
  }
};

/** Who asks, as the server says; without a server nobody is another's program. */
const askerOf = (c: Context): Asker =>
  (c.env as { asker?: Asker } | undefined)?.asker ?? { connection: c.req.raw, program: async () => '' };

/** @param value what the endpoint answers, or the bytes of that */
const answer = ({ answer: kind }: Endpoint, value: unknown): Response => {
  if (kind.kind === 'json')
    return new Response(
      value instanceof Uint8Array ? (value as Uint8Array<ArrayBuffer>) : toWireJson(value),
      {
        status: kind.status,
        headers: { 'content-type': 'application/json' },
      },
    );
  const mime = kind.kind === 'bytes' ? kind.mime : 'text/plain';
  return new Response(value as string | Uint8Array<ArrayBuffer>, {
    headers: {
      'content-type': mime,
      ...(mime.startsWith('text/html') && { 'content-security-policy': REPORT_SECURITY_POLICY }),
    },
  });
};
