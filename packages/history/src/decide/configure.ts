import { checkId, type Policy } from '@stemma/context-tree';
import { isJsonObject, type WideJson } from '@stemma/canonical';
import { fail } from '@stemma/errors';
import type { StepOf } from '../command.ts';
import { checkName } from '../history-id.ts';
import { emit, type Draft } from './draft.ts';

/** The pruning policy from here on (context-tree §10.14). */
export const decidePolicy = (draft: Draft, step: StepOf<'policy'>): void => {
  const policy = step.policy === null ? null : parsePolicy(step.policy);
  emit(draft, {
    type: 'PolicyConfigured',
    policy: policy === null ? null : { ...policy, pins: [...policy.pins] },
  });
};

/** @throws E_POLICY_INVALID */
const parsePolicy = (value: WideJson): Policy => {
  if (!isJsonObject(value)) throw fail('E_POLICY_INVALID', 'a policy is an object');
  const unknown = Object.keys(value).find(
    (name) => name !== 'max_blocks' && name !== 'keep_turns' && name !== 'pins',
  );
  if (unknown !== undefined) throw fail('E_POLICY_INVALID', `a policy has no ${unknown}`);
  const { pins = [] } = value;
  if (!Array.isArray(pins)) throw fail('E_POLICY_INVALID', 'pins is a list of ids');
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
    throw fail('E_POLICY_INVALID', `${name} is an integer from 0`);
  return number as number;
};

/** A position gets a name that no other of the history has (context-tree §5). */
export const decideName = (draft: Draft, step: StepOf<'name'>): void => {
  const name = checkName(step.name);
  if (draft.names.has(name) || draft.lookups.nameTaken(name))
    throw fail('E_NAME_TAKEN', `${name} names a position already`, { name });
  draft.names.add(name);
  emit(draft, { type: 'PositionNamed', name, ...positionOf(draft, step.position) });
};

/** A position gets a note. */
export const decideAnnotate = (draft: Draft, step: StepOf<'annotate'>): void => {
  if (!step.note.isWellFormed()) throw fail('E_INPUT_SURROGATE', 'the note holds an unpaired surrogate');
  emit(draft, { type: 'PositionAnnotated', note: step.note, ...positionOf(draft, step.position) });
};

type At = { readonly strand: number; readonly seq: number };

/** Without changes before it in the command, a name belongs to where the lineage was: so a commit's name is a commit's. */
const positionOf = (draft: Draft, given: At | undefined): At => {
  const { strand, seq } = draft.lineage;
  if (given === undefined) return { strand, seq: draft.events.some(changesTree) ? draft.seq : seq };
  if (given.seq >= draft.seq || given.strand > given.seq)
    throw fail('E_SNAPSHOT_NOT_FOUND', `there is no position ${given.seq} of strand ${given.strand}`);
  return given;
};

const changesTree = ({ type }: Draft['events'][number]): boolean =>
  type !== 'PositionNamed' && type !== 'PositionAnnotated';
