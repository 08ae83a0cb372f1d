import type { WideJson } from '@stemma/canonical';
import { fail } from '@stemma/errors';
import type { HistoryEvent, InterventionType } from '@stemma/events';
import type { Command } from '../command.ts';
import { specOf, type Step } from '../steps/catalogue.ts';
import { checkActor, checkNotes } from '../texts.ts';

const kindOfStep = (step: Step): InterventionType => {
  const { kind } = specOf(step);
  return typeof kind === 'function' ? kind(step) : (kind ?? 'edit');
};

/** The type of all steps together; steps of several types are an edit. */
const kindOf = (steps: readonly Step[]): InterventionType => {
  const main = steps.filter((step) => specOf(step).along !== true);
  const kinds = new Set((main.length === 0 ? steps : main).map(kindOfStep));
  if (kinds.size > 1 && main.length === 0)
    return steps.some((step) => specOf(step).snapshot === true) ? 'edit' : 'save';
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
    const intervention = steps.find((step) => specOf(step).byActor === true);
    if (intervention !== undefined)
      throw fail('E_ACTOR_REQUIRED', `${intervention.op} is an intervention and needs an actor`);
    if (notes !== undefined) throw fail('E_COMMAND_INVALID', 'a recorder cannot write notes: name an actor');
    return [];
  }
  checkActor(by.actor);
  const said = checkNotes(notes ?? '');
  if (steps[0] !== undefined && specOf(steps[0]).kind === null) return [];
  return [{ type: 'InterventionRecorded', intervention: kindOf(steps), notes: said, content: toldBy(steps) }];
};

const refuseCompany = (steps: readonly Step[]): void => {
  const alone = steps.length > 1 ? steps.find((step) => specOf(step).alone === true) : undefined;
  if (alone !== undefined)
    throw fail('E_COMMAND_INVALID', `${alone.op} must be the only step of its command`);
  const seen = new Set<string>();
  for (const step of steps) {
    const { once } = specOf(step);
    if (once !== undefined && seen.has(step.op)) throw fail('E_COMMAND_INVALID', once);
    seen.add(step.op);
  }
};

/** What the steps request and no other event records. */
const toldBy = (steps: readonly Step[]): { [key: string]: WideJson } =>
  Object.assign({}, ...steps.map((step) => specOf(step).told?.(step) ?? {})) as { [key: string]: WideJson };
