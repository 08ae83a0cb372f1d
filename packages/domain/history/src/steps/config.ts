import { canonicalJson, compareCodePoints, isForbiddenKey, type WideJson } from '@stemma/canonical';
import { checkValue } from '@stemma/context-tree';
import { fail } from '@stemma/errors';
import { z } from 'zod';
import { checkSteering } from '../breakpoint.ts';
import { changedConfig, type ConfigChange } from '../config.ts';
import type { PendingFrame } from '../decide/pending-frame.ts';
import { object } from './fields.ts';
import { policyConfigured } from './policy.ts';
import { defineStep } from './step.ts';

const POLICY_KEYS = ['max_blocks', 'keep_turns', 'pins'] as const;
const KEY = /^[A-Za-z][A-Za-z0-9_.-]{0,127}$/;
const MAX_CONFIG = 64 * 1024;

/**
 * Changes the general configuration; null removes a key (pool: Interventions). Keys of the policy change the policy; unsetting
 * `max_blocks` removes it.
 *
 * @throws E_CONFIG_INVALID, E_POLICY_INVALID
 */
export const config = defineStep({
  op: 'config',
  schema: z.strictObject({ op: z.literal('config'), set: object }),
  on: 'its branch',
  request: { without: [] },
  kind: 'config_change',
  secrets: { set: 'settings' },
  *decide(pending, { set }) {
    const keys = Object.keys(set).sort(compareCodePoints);
    if (keys.length === 0) throw fail('E_CONFIG_INVALID', 'the command configures nothing');
    const ofPolicy = keys.filter((key) => POLICY_KEYS.some((each) => each === key));
    if (ofPolicy.length > 0) yield policyConfigured(merged(pending, set, ofPolicy));
    const { config: before } = pending.branch;
    const changes: ConfigChange[] = [];
    for (const key of keys.filter((each) => !ofPolicy.includes(each))) {
      // Also recorded if the value is the same: the request is a fact.
      changes.push({ key, from: before[key] ?? null, to: checkSetting(key, set[key] as WideJson) });
    }
    if (changes.length === 0) return;
    if (Buffer.byteLength(canonicalJson(changedConfig(before, changes))) > MAX_CONFIG)
      throw fail('E_CONFIG_INVALID', `a configuration has more than ${MAX_CONFIG} bytes`);
    yield { type: 'ConfigurationChanged', changes };
  },
});

const merged = (
  pending: PendingFrame,
  set: { readonly [key: string]: WideJson },
  keys: readonly string[],
): WideJson => {
  if (set['max_blocks'] === null) return null;
  const { policy } = pending.branch;
  const before = policy === null ? { keep_turns: 0, pins: [] } : { ...policy, pins: [...policy.pins] };
  return { ...before, ...Object.fromEntries(keys.map((key) => [key, set[key] as WideJson])) };
};

const checkSetting = (key: string, value: WideJson): WideJson => {
  if (!KEY.test(key) || isForbiddenKey(key))
    throw fail('E_CONFIG_INVALID', `${JSON.stringify(key.slice(0, 140))} is not a key of a configuration`);
  if (key === 'thread')
    throw fail('E_CONFIG_INVALID', 'the thread mode of a history cannot be changed after its start', { key });
  if (key === 'observe' && value !== null && typeof value !== 'boolean')
    throw fail('E_CONFIG_INVALID', 'observe must be true or false', { key });
  checkSteering(key, value);
  return checkValue(value, key, { code: 'E_CONFIG_INVALID', what: 'the configuration' });
};
