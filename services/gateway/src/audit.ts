import { type AnswerOf, type Endpoints, type InputOf, positionAnswer } from '@stemma/api';
import type { Home } from '@stemma/home';
import type { Comparison } from '@stemma/queries';
import { comparisonPage } from '@stemma/reports';

type AuditEndpoint = 'compare' | 'comparePage' | 'experiment' | 'runExperiment';
type AuditHandlers = {
  readonly [Name in AuditEndpoint]: (input: InputOf<Endpoints[Name]>) => Promise<AnswerOf<Endpoints[Name]>>;
};

const MAX_EXCERPT = 100_000;

/** What answers an auditor. */
export const auditHandlers = (home: Home): AuditHandlers => ({
  compare: async ({ history, a, b, excerpt = 2_000 }) =>
    comparisonAnswer(
      await home.audit.compare(await home.find(history), a, b, { excerpt: Math.min(excerpt, MAX_EXCERPT) }),
    ),
  comparePage: async ({ history, a, b }) =>
    comparisonPage(await home.audit.compare(await home.find(history), a, b), `${history}: ${a} and ${b}`),
  experiment: async ({ history, at }) => {
    const position = await home.position(await home.find(history), at);
    let text = '';
    for await (const piece of home.experiments.export(position)) text += piece;
    return text;
  },
  runExperiment: ({ body: { experiment, name = null } }) => home.experiments.run(experiment, { name }),
});

const comparisonAnswer = (comparison: Comparison): AnswerOf<Endpoints['compare']> => {
  const { mergeBase, alike, cycles, threads, ...rest } = comparison;
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
    cycles: [...cycles],
  };
};
