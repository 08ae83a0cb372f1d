import { fail } from '@stemma/errors';
import type { LiveSettings, WhatIf } from '@stemma/reruns';
import type { Context } from '../../command.ts';
import { liveSettings } from '../live-settings.ts';
import type { PreparedRerun } from '../prepare-rerun.ts';
import { changeFor, type OftenAsked } from './often-options.ts';

/** Reruns with the same change. */
export type Arm = {
  /** As people read it: a model, what is asked, or `control`. */
  readonly name: string;
  /** What the branches of its runs are named after: the number of the run follows. */
  readonly branchName: string;
  readonly settings: LiveSettings | null;
  readonly whatIf: WhatIf | null;
  readonly isControl: boolean;
};

/**
 * The arms of an experiment: each model is one, or all that the options change together is; and the control, if one is asked for.
 *
 * @param name what their branches are named after
 * @throws E_USAGE for a control where nothing goes live; E_MIND_…
 */
export const armsOf = async (
  context: Pick<Context, 'env'>,
  prepared: PreparedRerun,
  { models, control }: OftenAsked,
  { name, options }: { readonly name: string; readonly options: Readonly<Record<string, unknown>> },
): Promise<readonly Arm[]> => {
  const { home, run, judged, whatIf, settings } = prepared;
  const arms: Arm[] = [];
  const base = { whatIf, isControl: false };
  for (const model of models) {
    const changed = await liveSettings(context, home, run, judged.from, changeFor(options, model));
    arms.push({
      ...base,
      name: model,
      branchName: freeName(`${name}-${slugOf(model)}`, arms),
      settings: changed,
    });
  }
  if (models.length === 0)
    arms.push({ ...base, name: whatIf?.description ?? 'rerun', branchName: name, settings });
  if (!control) return arms;
  const [from] = judged.from;
  if (from === undefined)
    throw fail('E_USAGE', 'a control is live: say from which call on, such as --from @c4');
  const unchanged = whatIf && { from, description: `rerun: live from ${from}`, edit: null, answer: null };
  return [
    ...arms,
    {
      ...{ name: 'control', branchName: freeName(`${name}-control`, arms), settings: null },
      ...{ whatIf: unchanged, isControl: true },
    },
  ];
};

/** A name of a model as a part of the name of a branch. */
const slugOf = (model: string): string =>
  model
    .replace(/@.*$/s, '')
    .replace(/[^A-Za-z0-9._-]+/g, '-')
    .replace(/^[^A-Za-z0-9]+/, '')
    .slice(0, 40) || 'model';

const freeName = (wanted: string, arms: readonly Arm[]): string => {
  const taken = new Set(arms.map(({ branchName }) => branchName));
  let name = wanted;
  for (let number = 2; taken.has(name); number++) name = `${wanted}.${number}`;
  return name;
};
