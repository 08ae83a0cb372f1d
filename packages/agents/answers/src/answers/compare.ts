import { type AnswerOf, type Endpoints, positionAnswer, requestChangeAnswer } from '@stemma/api';
import type { Comparison } from '@stemma/queries';
import type { ContractAnswer } from '../answer.ts';

export const compare: ContractAnswer<'compare'> = async ({ home }, { history, a, b, excerpt = 2_000 }) =>
  comparisonAnswer(
    await home.queries.audit.compare(await home.find(history), a, b, {
      excerpt: Math.min(excerpt, MAX_EXCERPT),
    }),
  );

const MAX_EXCERPT = 100_000;

const comparisonAnswer = (comparison: Comparison): AnswerOf<Endpoints['compare']> => {
  const { mergeBase, alike, cycles, threads, request, ...rest } = comparison;
  const side = ({ position, interventionFrames, added, removed, changed, ...counts }: Comparison['a']) => ({
    ...counts,
    position: positionAnswer(position),
    interventionFrames: [...interventionFrames],
    added: [...added],
    removed: [...removed],
    changed: changed.map((node) => ({ ...node, fields: [...node.fields] })),
  });
  return {
    ...rest,
    mergeBase: mergeBase && { ...mergeBase, position: positionAnswer(mergeBase.position) },
    a: side(comparison.a),
    b: side(comparison.b),
    alike: [...alike],
    threads: {
      ...threads,
      differences: threads.differences.map(({ a, b, causes, ...difference }) => ({
        ...difference,
        a: [...a],
        b: [...b],
        causes: [...causes],
      })),
    },
    request: request?.map(requestChangeAnswer) ?? null,
    cycles: [...cycles],
  };
};
