import { isJsonObject, type WideJson } from '@stemma/canonical';
import { checkId, type Policy } from '@stemma/context-tree';
import { fail } from '@stemma/errors';
import type { HistoryEvent } from '@stemma/events';
import { z } from 'zod';
import { json } from './fields.ts';
import { defineStep } from './step.ts';

/** Sets the pruning policy, or removes it with null (context-tree §10.14). Checked when the command is decided. */
export const policy = defineStep({
  op: 'policy',
  schema: z.strictObject({ op: z.literal('policy'), policy: json }),
  on: 'its branch',
  kind: 'config_change',
  secrets: { policy: { as: 'policy' } },
  *decide(_pending, step) {
    yield policyConfigured(step.policy);
  },
});

/** @throws E_POLICY_INVALID */
export const policyConfigured = (value: WideJson): HistoryEvent => {
  const parsed = value === null ? null : parsePolicy(value);
  return { type: 'PolicyConfigured', policy: parsed === null ? null : { ...parsed, pins: [...parsed.pins] } };
};

const parsePolicy = (value: WideJson): Policy => {
  if (!isJsonObject(value)) throw fail('E_POLICY_INVALID', 'a policy must be an object');
  const unknown = Object.keys(value).find(
    (name) => name !== 'max_blocks' && name !== 'keep_turns' && name !== 'pins',
  );
  if (unknown !== undefined) throw fail('E_POLICY_INVALID', `a policy has no field ${unknown}`);
  const { pins = [] } = value;
  if (!Array.isArray(pins)) throw fail('E_POLICY_INVALID', 'pins must be a list of ids');
  const blame = { code: 'E_POLICY_INVALID', what: 'a pin' } as const;
  return {
    max_blocks: whole(value, 'max_blocks'),
    keep_turns: whole(value, 'keep_turns'),
    pins: (pins as WideJson[]).map((pin) => checkId(pin, blame)),
  };
};

const whole = (value: { readonly [name: string]: WideJson }, name: string): number => {
  const number = value[name];
  if (!Number.isSafeInteger(number) || (number as number) < 0)
    throw fail('E_POLICY_INVALID', `${name} must be an integer from 0`);
  return number as number;
};
