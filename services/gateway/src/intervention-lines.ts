import { filterOf } from '@stemma/answers';
import type { Endpoints, InputOf } from '@stemma/api';
import type { Home } from '@stemma/home';
import { interventionLines } from '@stemma/reports';
import type { StreamedAnswer } from './front/answer.ts';

/** The streamed export: pieces are made as the client takes them. @throws what is wrong with the request */
export const openInterventionLines = async (
  home: Home,
  { history, format = 'jsonl', ...query }: InputOf<Endpoints['interventionLines']>,
): Promise<StreamedAnswer> => {
  const branchRef = await home.find(history);
  const lines = interventionLines(home.queries.audit.eachIntervention(branchRef, filterOf(query)), format);
  // Errors of the request must be thrown before the answer begins.
  const pieces = lines[Symbol.asyncIterator]();
  let first: IteratorResult<string> | undefined = await pieces.next();
  const encoder = new TextEncoder();
  return {
    status: 200,
    headers: {
      'content-type': format === 'csv' ? 'text/csv; charset=utf-8' : 'application/jsonl',
      'content-disposition': `attachment; filename="interventions.${format}"`,
    },
    pieces: {
      next: async () => {
        const piece = first ?? (await pieces.next());
        first = undefined;
        return piece.done === true ? undefined : encoder.encode(piece.value);
      },
      cancel: () => void pieces.return?.().catch(() => undefined),
    },
  };
};
