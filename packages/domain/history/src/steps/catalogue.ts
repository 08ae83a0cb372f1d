import { z } from 'zod';
import * as all from './all.ts';
import type { Secret, StepSpec } from './step.ts';

type Spec = (typeof all)[keyof typeof all];
type Schema = Spec['schema'];

const specs: readonly Spec[] = Object.values(all);

/** What a command may ask for, one after the other. */
export const Step = z.discriminatedUnion(
  'op',
  specs.map(({ schema }) => schema) as unknown as readonly [Schema, ...Schema[]],
);
export type Step = z.infer<Schema>;
export type StepOf<Op extends Step['op']> = Extract<Step, { op: Op }>;

/** As a caller sees it who has any step: with functions that take any. */
export type AnyStepSpec = Omit<StepSpec<Step['op'], z.ZodType<Step>>, 'secrets'> & {
  readonly secrets: { readonly [field: string]: Secret<unknown> };
};

/** All that is to be known of each step, by its operation. */
export const STEPS: ReadonlyMap<string, AnyStepSpec> = new Map(
  specs.map((spec) => [spec.op, spec as unknown as AnyStepSpec]),
);

/** All that is to be known of a step that was parsed. */
export const specOf = ({ op }: { readonly op: Step['op'] }): AnyStepSpec => STEPS.get(op) as AnyStepSpec;
