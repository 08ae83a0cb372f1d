import { ENDPOINTS, type AnswerOf, type Endpoints, type InputOf, type InterventionAnswer } from '@stemma/api';
import type { Home } from '@stemma/home';
import type { Intervention as RecordedIntervention, InterventionFilter } from '@stemma/queries';
import { interventionLines } from '@stemma/reports';
import { defined, nanosecondsOf } from '@stemma/values';
import type { Hono } from 'hono';
import { inputOf, partsOf } from './request.ts';

type InterventionEndpoint = 'interventions' | 'intervention' | 'impact';
type InterventionHandlers = {
  readonly [Name in InterventionEndpoint]: (
    input: InputOf<Endpoints[Name]>,
  ) => Promise<AnswerOf<Endpoints[Name]>>;
};

/** What answers questions for interventions. */
export const interventionHandlers = (home: Home): InterventionHandlers => ({
  interventions: async ({ history, from, limit = 100, order, ...query }) => {
    const window = {
      limit: Math.max(1, limit),
      newest: order === 'newest',
      ...defined({ from }),
    };
    const branchRef = await home.find(history);
    const { interventions, next } = await home.audit.interventions(branchRef, filterOf(query), window);
    return { interventions: interventions.map(interventionAnswer), next };
  },
  intervention: async ({ history, id }) =>
    interventionAnswer(await home.audit.intervention((await home.find(history)).history, id)),
  impact: async ({ history, id }) => {
    const { history: found } = await home.find(history);
    const { basis, brought, calls, counts, blocks, lost, branches } = await home.audit.impact(found, id);
    return {
      basis,
      brought: brought.map((one) => ({ ...one, calls: [...one.calls] })),
      calls: [...calls],
      counts,
      blocks: [...blocks],
      lost: lost.map((one) => ({ ...one, calls: [...one.calls] })),
      branches: [...branches],
    };
  },
});

type InterventionQueryInput = Omit<InputOf<Endpoints['interventionLines']>, 'history' | 'format'>;

const filterOf = ({
  type,
  actor,
  after,
  before,
  snapshot,
  branch,
}: InterventionQueryInput): InterventionFilter => ({
  ...defined({ type, actor }),
  ...(after === undefined ? {} : { after: nanoseconds(after) }),
  ...(before === undefined ? {} : { before: nanoseconds(before) }),
  ...defined({ snapshot, branch }),
});

const nanoseconds = (time: string): bigint => nanosecondsOf(Date.parse(time));

const interventionAnswer = (one: RecordedIntervention): InterventionAnswer => ({
  ...one,
  content: { ...one.content },
  annotations: [...one.annotations],
});

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
