import { ENDPOINTS, type InputOf } from '@stemma/api';
import type { Home } from '@stemma/home';
import { interventionLines } from '@stemma/reports';
import type { Hono } from 'hono';
import { filterOf } from '@stemma/answers';
import { inputOf, partsOf } from './request.ts';

/** The streamed export: pieces are made as the client takes them. */
export const routeInterventionLines = (app: Hono, home: Home): void => {
  const endpoint = ENDPOINTS.interventionLines;
  app.get(endpoint.path.replace('{history}', ':history'), async (c) => {
    const {
      history,
      format = 'jsonl',
      ...query
    } = (await inputOf(partsOf(c), endpoint)) as InputOf<typeof endpoint>;
    const branchRef = await home.find(history);
    const lines = interventionLines(home.audit.eachIntervention(branchRef, filterOf(query)), format);
    // Errors of the request must be thrown before the answer begins.
    const pieces = lines[Symbol.asyncIterator]();
    let next: IteratorResult<string> | undefined = await pieces.next();
    const encoder = new TextEncoder();
    const body = new ReadableStream<Uint8Array>(
      {
        pull: async (controller) => {
          const piece = next ?? (await pieces.next());
          next = undefined;
          if (piece.done === true) controller.close();
          else controller.enqueue(encoder.encode(piece.value));
        },
        cancel: async () => {
          await pieces.return?.();
        },
      },
      { highWaterMark: 0 },
    );
    return c.body(body, 200, {
      'content-type': format === 'csv' ? 'text/csv; charset=utf-8' : 'application/jsonl',
      'content-disposition': `attachment; filename="interventions.${format}"`,
    });
  });
};
