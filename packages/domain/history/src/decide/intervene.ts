import type { WideJson, WideJsonObject } from '@stemma/canonical';
import { fail } from '@stemma/errors';
import type { HistoryEvent, InterventionType } from '@stemma/events';
import type { Command, Step } from '../command.ts';
import { checkActor, checkNotes } from '../texts.ts';

type Op = Step['op'];

/** The type of intervention that each step is when an observer takes it (pool: Interventions). */
const KINDS: { readonly [op in Exclude<Op, 'observe' | 'retell'>]: InterventionType } = {
  start: 'edit',
  import: 'edit',
  insert: 'edit',
  replace: 'edit',
  move: 'edit',
  remove: 'edit',
  commit: 'edit',
  priorities: 'edit',
  policy: 'config_change',
  config: 'config_change',
  inject: 'message_inject',
  fork: 'fork',
  rollback: 'rollback',
  query: 'external_query',
  run: 'run',
  name: 'save',
  save: 'save',
  annotate: 'annotate',
  start_call: 'run',
  finish_call: 'run',
  reassign_call: 'edit',
  link: 'edit',
  hold_call: 'run',
  release_call: 'edit',
  request_run: 'run',
  take_run: 'run',
  end_run: 'run',
  record_vectors: 'edit',
  erase: 'edit',
};

/** Steps that may accompany any other step without changing its type. */
const ALONG: ReadonlySet<Op> = new Set([
  'commit',
  'name',
  'save',
  'annotate',
  'start_call',
  'finish_call',
  'record_vectors',
]);
const ALONE: ReadonlySet<Op> = new Set([
  'fork',
  'rollback',
  'query',
  'run',
  'retell',
  'observe',
  'erase',
  'link',
  'release_call',
  'request_run',
  'take_run',
  'end_run',
]);
const BY_ACTORS: ReadonlySet<Op> = new Set([
  'inject',
  'query',
  'run',
  'retell',
  'observe',
  'reassign_call',
  'link',
  'erase',
  'request_run',
]);

/** The type of all steps together; steps of several types are an edit. */
const kindOf = (steps: readonly Step[]): InterventionType => {
  const [first] = steps;
  if (first?.op === 'retell') return first.type;
  const ops = new Set(steps.map(({ op }) => op));
  const main = [...ops].filter((op) => !ALONG.has(op));
  const kinds = new Set(
    (main.length === 0 ? [...ops] : main).map((op) =>
      op === 'observe' || op === 'retell' ? 'edit' : KINDS[op],
    ),
  );
  if (kinds.size > 1 && main.length === 0) return ops.has('commit') ? 'edit' : 'save';
  const [kind = 'edit'] = kinds;
  return kinds.size > 1 ? 'edit' : kind;
};

/**
 * The first event of an actor's command; none for a recorder's command and for observations. So every change by an
 * observer is in the log with its author and reason (pool: Interventions).
 *
 * @throws E_ACTOR_REQUIRED, E_ACTOR_INVALID, E_NOTES_INVALID, E_INPUT_SURROGATE, E_COMMAND_INVALID
 */
export const leadingEvents = ({ by, steps, notes }: Command): HistoryEvent[] => {
  refuseCompany(steps);
  if (!('actor' in by)) {
    const interventions = steps.find(({ op }) => BY_ACTORS.has(op));
    if (interventions !== undefined)
      throw fail('E_ACTOR_REQUIRED', `${interventions.op} is an intervention and needs an actor`);
    if (notes !== undefined) throw fail('E_COMMAND_INVALID', 'a recorder cannot write notes: name an actor');
    return [];
  }
  checkActor(by.actor);
  const said = checkNotes(notes ?? '');
  if (steps[0]?.op === 'observe') return [];
  return [
    { type: 'InterventionRecorded', intervention: kindOf(steps), notes: said, content: contentOf(steps) },
  ];
};

const refuseCompany = (steps: readonly Step[]): void => {
  const alone = steps.length > 1 ? steps.find(({ op }) => ALONE.has(op)) : undefined;
  if (alone !== undefined)
    throw fail('E_COMMAND_INVALID', `${alone.op} must be the only step of its command`);
  if (steps.filter(({ op }) => op === 'inject').length > 1)
    throw fail('E_COMMAND_INVALID', 'a command can inject only one message');
};

/** What the steps request and no other event records. */
const contentOf = (steps: readonly Step[]): { [key: string]: WideJson } => {
  const [step] = steps;
  if (step?.op === 'query') {
    const { question, answer, mind } = step;
    return { question, answer, mind, ...retoldIn(step) };
  }
  if (step?.op === 'retell') {
    const { since, until } = step;
    return {
      ...retoldIn(step),
      ...(since === undefined ? {} : { since: { ...since } }),
      ...(until === undefined ? {} : { until: { ...until } }),
    };
  }
  const injection = steps.find(({ op }) => op === 'inject');
  if (injection?.op === 'inject') return retoldIn(injection);
  if (step?.op !== 'run') return {};
  const { rounds, total_rounds_after, since } = step;
  return {
    rounds,
    total_rounds_after,
    ...(since === undefined ? {} : { since: { ...since } }),
    ...retoldIn(step),
  };
};

const retoldIn = ({
  retold,
}: {
  readonly retold?: WideJsonObject | undefined;
}): { readonly retold?: WideJsonObject } => (retold === undefined ? {} : { retold });
