import type { ExactJson } from './exact-json.ts';
import { trimmedMember } from './node.ts';
import type { Profile } from './profile.ts';

const NAMED: Readonly<Record<string, readonly [prefix: string, key: string]>> = {
  message: ['message', 'role'],
  lifecycle: ['lifecycle', 'type'],
  guardrail: ['guardrail', 'type'],
  task_event: ['task', 'kind'],
  subagent: ['subagent', 'subagent_type'],
};

/** The label of a leaf in the tree view: its kind, with a text of its payload if there is one. */
export const nodeLabel = (profile: Profile, kind: string, payload: ExactJson): string => {
  const named = Object.hasOwn(NAMED, kind) ? NAMED[kind] : undefined;
  const word = named === undefined ? null : trimmedMember(profile, payload, named[1]);
  return word === null || named === undefined ? kind : `${named[0]}:${word}`;
};
