import { ENDPOINTS, type AnswerOf, type Endpoints, type InputOf, type Intervention } from '@stemma/api';
import type { Home } from '@stemma/home';
import type { Intervention as Told, InterventionFilter } from '@stemma/queries';
import { interventionLines } from '@stemma/reports';
import type { Hono } from 'hono';
import { inputOf } from './request.ts';

type Asked = 'interventions' | 'intervention' | 'impact';
type InterventionHandlers = {
  readonly [Name in Asked]: (input: InputOf<Endpoints[Name]>) => Promise<AnswerOf<Endpoints[Name]>>;
};

/** What answers questions for interventions. */
export const interventionHandlers = (home: Home): InterventionHandlers => ({
  interventions: async ({ history, from, limit = 100, order, ...asked }) => {
    const window = {
      limit: Math.max(1, limit),
      newest: order === 'newest',
      ...(from === undefined ? {} : { from }),
    };
    const line = await home.find(history);
    const { interventions, next } = await home.audit.interventions(line, filterOf(asked), window);
    return { interventions: interventions.map(interventionAnswer), next };
  },
  intervention: async ({ history, id }) =>
    interventionAnswer(await home.audit.intervention((await home.find(history)).history, id)),
  impact: async ({ history, id }) => {
    const { history: found } = await home.find(history);
    const { brought, calls, counts, blocks, lost, lineages } = await home.audit.impact(found, id);
    return {
      brought: brought.map((one) => ({ ...one, calls: [...one.calls] })),
      calls: [...calls],
      counts,
      blocks: [...blocks],
      lost: lost.map((one) => ({ ...one, calls: [...one.calls] })),
      lineages: [...lineages],
    };
  },
});

type Asking = Omit<InputOf<Endpoints['interventionLines']>, 'history' | 'format'>;

const filterOf = ({ type, actor, after, before, snapshot, lineage }: Asking): InterventionFilter => ({
  ...(type === undefined ? {} : { type }),
  ...(actor === undefined ? {} : { actor }),
  ...(after === undefined ? {} : { after: nanoseconds(after) }),
  ...(before === undefined ? {} : { before: nanoseconds(before) }),
  ...(snapshot === undefined ? {} : { snapshot }),
  ...(lineage === undefined ? {} : { lineage }),
});

const nanoseconds = (time: string): bigint => BigInt(Date.parse(time)) * 1_000_000n;

const interventionAnswer = (one: Told): Intervention => ({
  ...one,
  content: { ...one.content },
  annotations: [...one.annotations],
});

/** The streamed export: pieces are made as the client takes them. */
export const routeInterventionLines = (app: Hono, home: Home): void => {
  const endpoint = ENDPOINTS.interventionLines;
  app.get(endpoint.path.replace('{history}', ':history'), async (c) => {
    const { history, format = 'jsonl', ...asked } = (await inputOf(c, endpoint)) as InputOf<typeof endpoint>;
    const line = await home.find(history);
    const lines = interventionLines(home.audit.eachIntervention(line, filterOf(asked)), format);
    // What is wrong with the question is told before the answer begins.
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
