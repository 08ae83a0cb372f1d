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

/** How the tree view calls a leaf: its kind, with what its payload says of it where it says something. */
export const nodeLabel = (profile: Profile, kind: string, payload: ExactJson): string => {
  const named = Object.hasOwn(NAMED, kind) ? NAMED[kind] : undefined;
  const word = named === undefined ? null : trimmedMember(profile, payload, named[1]);
  return word === null || named === undefined ? kind : `${named[0]}:${word}`;
};
