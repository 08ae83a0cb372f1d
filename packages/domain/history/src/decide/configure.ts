import {
  canonicalJson,
  compareCodePoints,
  isForbiddenKey,
  isJsonObject,
  type WideJson,
} from '@stemma/canonical';
import { checkId, checkValue, type Policy } from '@stemma/context-tree';
import { fail } from '@stemma/errors';
import { changesBranch } from '@stemma/events';
import { checkSteering } from '../breakpoint.ts';
import type { StepOf } from '../command.ts';
import { changedConfig, type ConfigChange } from '../config.ts';
import { checkName } from '../history-id.ts';
import { checkNotes } from '../texts.ts';
import { emit, type PendingFrame } from './pending-frame.ts';

/** Sets the pruning policy (context-tree §10.14). */
export const decidePolicy = (pending: PendingFrame, step: StepOf<'policy'>): void => {
  const policy = step.policy === null ? null : parsePolicy(step.policy);
  emit(pending, {
    type: 'PolicyConfigured',
    policy: policy === null ? null : { ...policy, pins: [...policy.pins] },
  });
};

/** @throws E_POLICY_INVALID */
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

const POLICY_KEYS = ['max_blocks', 'keep_turns', 'pins'] as const;
const KEY = /^[A-Za-z][A-Za-z0-9_.-]{0,127}$/;
const MAX_CONFIG = 64 * 1024;

/**
 * Changes the general configuration (pool: Interventions). Keys of the policy change the policy; unsetting `max_blocks`
 * removes it.
 *
 * @throws E_CONFIG_INVALID, E_POLICY_INVALID
 */
export const decideConfig = (pending: PendingFrame, step: StepOf<'config'>): void => {
  const keys = Object.keys(step.set).sort(compareCodePoints);
  if (keys.length === 0) throw fail('E_CONFIG_INVALID', 'the command configures nothing');
  const ofPolicy = keys.filter((key) => POLICY_KEYS.some((each) => each === key));
  if (ofPolicy.length > 0) decidePolicy(pending, { op: 'policy', policy: merged(pending, step, ofPolicy) });
  const { config } = pending.branch;
  const changes: ConfigChange[] = [];
  for (const key of keys.filter((each) => !ofPolicy.includes(each))) {
    const from = config[key] ?? null;
    const to = checkSetting(key, step.set[key] as WideJson);
    // Also recorded if the value is the same: the request is a fact.
    changes.push({ key, from, to });
  }
  if (changes.length === 0) return;
  if (Buffer.byteLength(canonicalJson(changedConfig(config, changes))) > MAX_CONFIG)
    throw fail('E_CONFIG_INVALID', `a configuration has more than ${MAX_CONFIG} bytes`);
  emit(pending, { type: 'ConfigurationChanged', changes });
};

const merged = (pending: PendingFrame, { set }: StepOf<'config'>, keys: readonly string[]): WideJson => {
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

/** Gives a position a name that is unique in the history (context-tree §5). */
export const decideName = (pending: PendingFrame, step: StepOf<'name'>): void => {
  takeName(pending, checkName(step.name));
  emit(pending, { type: 'PositionNamed', name: step.name, ...positionOf(pending, step.position) });
};

const isTaken = (pending: PendingFrame, name: string): boolean =>
  pending.names.has(name) || pending.lookups.nameTaken(name);

const takeName = (pending: PendingFrame, name: string): void => {
  if (isTaken(pending, name))
    throw fail('E_NAME_TAKEN', `the name ${name} already belongs to a position`, { name });
  pending.names.add(name);
};

/** Saves a position with a description, under the given name or one made from its number. */
export const decideSave = (pending: PendingFrame, step: StepOf<'save'>): void => {
  const at = positionOf(pending, step.position);
  let name = step.name === undefined ? madeName(at) : checkName(step.name);
  if (step.name === undefined) while (isTaken(pending, name)) name += '-';
  takeName(pending, name);
  emit(pending, { type: 'PositionNamed', name, ...at });
  if (step.description !== undefined && step.description !== '')
    emit(pending, {
      type: 'PositionAnnotated',
      note: checkNotes(step.description, 'the description'),
      ...at,
    });
};

/** The name of a saved position when the command gives none. */
const madeName = ({ seq }: { readonly seq: number }): string => `s${seq}`;

/** A position gets a note. */
export const decideAnnotate = (pending: PendingFrame, step: StepOf<'annotate'>): void => {
  const at = positionOf(pending, step.position);
  emit(pending, { type: 'PositionAnnotated', note: checkNotes(step.note, 'the note'), ...at });
};

type BranchPosition = { readonly branchId: number; readonly seq: number };

/**
 * The named position. Unless earlier steps change the branch it is the tip before the command: a name next to a commit
 * alone names the commit.
 */
export const positionOf = (pending: PendingFrame, given: BranchPosition | undefined): BranchPosition => {
  const { branchId, seq } = pending.branch;
  if (given === undefined) return { branchId, seq: pending.events.some(changesBranch) ? pending.seq : seq };
  if (given.seq >= pending.seq || given.branchId > given.seq || pending.tipOf(given.branchId) === undefined)
    throw fail('E_SNAPSHOT_NOT_FOUND', `there is no position ${given.seq} of branch ${given.branchId}`);
  return given;
};
