import type { WideJson } from '@stemma/canonical';
import type { Outcome } from '@stemma/command-handler';
import { fail } from '@stemma/errors';
import { breakpointKey, breakpointsOf, steeringOf, type Breakpoint } from '@stemma/history';
import { readConfig, readTipSeq, type BranchRef } from '@stemma/history-store';
import type { Projection } from '@stemma/projector';
import { defined } from '@stemma/values';
import { randomUUID } from 'node:crypto';
import { checkConditions } from './conditions.ts';
import type { ActorWithNotes, SteeredHome, Steering } from './types.ts';

/** The settings of a branch that steer calls. */
export type SteeringSettings = { readonly [key: string]: WideJson };

/** The mode and the breakpoints of branches: settings, which are changed by interventions. */
export type Settings = Pick<
  Steering,
  'set' | 'isOn' | 'breakpoints' | 'addBreakpoint' | 'removeBreakpoint'
> & {
  /** Those in force at the tip of a branch. */
  readonly of: (branch: Pick<BranchRef, 'history' | 'branchId'>) => Promise<SteeringSettings>;
};

export const openSettings = (home: SteeredHome, projection: Projection): Settings => {
  const of = async ({
    history,
    branchId,
  }: Pick<BranchRef, 'history' | 'branchId'>): Promise<SteeringSettings> => {
    await home.catchUp();
    return projection.read((rows) =>
      steeringOf(readConfig(rows, history, branchId, readTipSeq(rows, history, branchId)).config),
    );
  };
  const change = (
    { history, branchId }: BranchRef,
    set: SteeringSettings,
    { actor, notes }: ActorWithNotes,
  ): Promise<Outcome> =>
    home.submit({
      id: randomUUID(),
      history,
      branchId,
      by: { actor },
      ...defined({ notes }),
      steps: [{ op: 'config', set }],
    });
  return {
    of,
    set: (branch, on, act) => change(branch, { steer: on ? true : null }, act),
    isOn: async (branch) => (await of(branch))['steer'] === true,
    breakpoints: async (branch) => breakpointsOf(await of(branch)),
    addBreakpoint: async (branch, breakpoint, act, given) => {
      checkConditions(breakpoint);
      const known = new Set(breakpointsOf(await of(branch)).map(({ name }) => name));
      let number = known.size + 1;
      while (known.has(`b${number}`)) number++;
      const name = given ?? `b${number}`;
      if (known.has(name))
        throw fail('E_CONFIG_INVALID', `there is a breakpoint ${name} already: stemma unbreak removes it`);
      await change(branch, { [breakpointKey(name)]: settingOf(breakpoint) }, act);
      return name;
    },
    removeBreakpoint: async (branch, name, act) => {
      const key = breakpointKey(name);
      if ((await of(branch))[key] === undefined)
        throw fail('E_BREAKPOINT_NOT_FOUND', `the branch has no breakpoint ${name}`);
      return change(branch, { [key]: null }, act);
    },
  };
};

const settingOf = (breakpoint: Breakpoint): WideJson =>
  Object.fromEntries(
    Object.entries(breakpoint).filter((entry): entry is [string, string | number] => entry[1] !== undefined),
  );
