import { positionAnswer, requestChangeAnswer } from '@stemma/api';
import type { NodeTimelineEntry } from '@stemma/queries';
import { defined } from '@stemma/values';
import type { ContractAnswer } from '../answer.ts';
import { positionAt } from '../at.ts';

export const why: ContractAnswer<'why'> = async ({ home }, { history, node, at }) => {
  const position = await positionAt(home, { history, at });
  const { added, changes, removed, request, ...rest } = await home.queries.causes.why(position, node);
  return {
    ...rest,
    position: positionAnswer(position),
    added: entryAnswer(added),
    changes: changes.map(entryAnswer),
    removed: removed === null ? null : entryAnswer(removed),
    request: {
      first: request.first?.map(requestChangeAnswer) ?? null,
      gone: request.gone?.map(requestChangeAnswer) ?? null,
    },
  };
};

const entryAnswer = ({ explains, redacted, ...rest }: NodeTimelineEntry) => ({
  ...rest,
  ...defined({ redacted: redacted?.map((one) => ({ ...one })) }),
  explains: typeof explains === 'string' ? explains : [...explains],
});
