import { positionAnswer, requestChangeAnswer } from '@stemma/api';
import type { Home } from '@stemma/home';
import { restrictExplained } from '@stemma/queries';
import type { ContractAnswer } from '../answer.ts';

export const diff: ContractAnswer<'diff'> = async ({ home }, { history, a, b, explain, selector }) => {
  const branchRef = await home.find(history);
  const found = await home.read.diff(branchRef, a, b, selector);
  if (explain !== '1') return diffAnswer(found);
  const [older, newer] = [await home.position(branchRef, a), await home.position(branchRef, b)];
  const request = (await home.calls.changes(older, newer))?.map(requestChangeAnswer) ?? null;
  const { entries, moves, mergeBase, ...diff } = restrictExplained(
    await home.queries.causes.explain(older, newer),
    found,
  );
  return {
    ...diffAnswer(diff),
    a: positionAnswer(older),
    b: positionAnswer(newer),
    mergeBase,
    entries: entries.map(({ fields, causes, ...entry }) => ({
      ...entry,
      fields: [...fields],
      causes: causes.map((cause) => ({ ...cause, fields: [...cause.fields] })),
    })),
    moves: [...moves],
    request,
  };
};

type FoundDiff = Awaited<ReturnType<Home['read']['diff']>>;

const diffAnswer = ({ added, removed, changed }: FoundDiff) => ({
  added: [...added],
  removed: [...removed],
  changed: changed.map(({ id, fields }) => ({ id, fields: [...fields] })),
});
