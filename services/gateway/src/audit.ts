import type { AnswerOf, Endpoints, InputOf } from '@stemma/api';
import type { Home } from '@stemma/home';
import type { Comparison } from '@stemma/queries';
import { comparisonPage } from '@stemma/reports';
import { positionAnswer } from './lines.ts';

type Audited = 'compare' | 'comparePage' | 'experiment' | 'runExperiment';
type AuditHandlers = {
  readonly [Name in Audited]: (input: InputOf<Endpoints[Name]>) => Promise<AnswerOf<Endpoints[Name]>>;
};

const MOST_EXCERPT = 100_000;

/** What answers an auditor. */
export const auditHandlers = (home: Home): AuditHandlers => ({
  compare: async ({ history, a, b, excerpt = 2_000 }) =>
    comparisonAnswer(
      await home.audit.compare(await home.find(history), a, b, { excerpt: Math.min(excerpt, MOST_EXCERPT) }),
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
  const { stem, alike, cycles, ...rest } = comparison;
  const side = ({ position, acts, added, removed, changed, ...counts }: Comparison['a']) => ({
    ...counts,
    position: positionAnswer(position),
    acts: [...acts],
    added: [...added],
    removed: [...removed],
    changed: changed.map((node) => ({ ...node, fields: [...node.fields] })),
  });
  return {
    ...rest,
    stem: { ...stem, position: positionAnswer(stem.position) },
    a: side(comparison.a),
    b: side(comparison.b),
    alike: [...alike],
    cycles: [...cycles],
  };
};
