import type { WideJson, WideJsonObject } from '@stemma/canonical';
import { INTERVENTIONS, type InterventionType, type BranchPosition } from '@stemma/events';
import type { Step } from '@stemma/history';
import { defined } from '@stemma/values';
import type { SessionIntervention } from './read-session.ts';

/**
 * What a session says of an intervention, as it is recorded beside it: `record` is its line and `written` how that is written; an
 * intervention without a record has no line. `row` is kept of the message that it brought.
 */
export const retold = (
  intervention: SessionIntervention | undefined,
  row: WideJsonObject | null = null,
): WideJsonObject => ({
  ...(intervention === undefined
    ? {}
    : { record: intervention.given, written: { place: intervention.place, ...intervention.written } }),
  ...defined({ row: row ?? undefined }),
});

/** The step that records an intervention of a session that brings no message. */
export const stepOf = (
  intervention: SessionIntervention,
  { since, until }: { readonly since?: BranchPosition; readonly until?: BranchPosition },
): Step => {
  const { type, content } = intervention;
  const told = retold(intervention);
  if (type === 'external_query') {
    const { question, answer, mind } = content;
    return {
      op: 'query',
      question: textIn(question),
      answer: answer ?? null,
      mind: textIn(mind),
      retold: told,
    };
  }
  const [rounds, total] = [content['rounds'] ?? content['iterations'], content['end_iteration']];
  const after = content['total_rounds_after'] ?? total ?? intervention.after?.round;
  if (type === 'run' && isCount(rounds) && isCount(after))
    return { op: 'run', rounds, total_rounds_after: after, ...(since && { since }), retold: told };
  return {
    op: 'retell',
    type: INTERVENTIONS.find((each) => each === type) ?? OTHER,
    retold: told,
    ...(since && { since }),
    ...(until && { until }),
  };
};

/** What an intervention of a type that Stemma does not have is listed as. */
const OTHER: InterventionType = 'annotate';

const textIn = (value: WideJson | undefined): string => (typeof value === 'string' ? value : '');

const isCount = (value: WideJson | undefined): value is number =>
  typeof value === 'number' && Number.isSafeInteger(value) && value >= 0;
