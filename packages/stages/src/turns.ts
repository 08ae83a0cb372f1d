import type { NodeFacts } from './describe-node.ts';
import type { ExactJson } from './exact-json.ts';
import { compareDigits } from './exact-numbers.ts';
import { turnDigits } from './node.ts';
import type { Profile } from './profile.ts';
import { pythonStr } from './python-text.ts';
import { ROOT_ID } from './view-node.ts';

/** A turn as its digits and as it was first given. */
export type Turn = { readonly digits: string; readonly given: ExactJson };

/** The turns of a stream, ascending. */
export const turnsOf = (profile: Profile, nodes: readonly NodeFacts[]): readonly Turn[] => {
  const turns = new Map<string, ExactJson>();
  for (const { turn } of nodes) {
    const digits = turnDigits(profile, turn);
    if (digits !== null && !turns.has(digits)) turns.set(digits, turn);
  }
  return [...turns]
    .map(([digits, given]) => ({ digits, given }))
    .sort((a, b) => compareDigits(a.digits, b.digits));
};

/** Where the nodes of a turn hang; the root for what has none. */
export const turnId = (turns: readonly Turn[], digits: string | null): string => {
  const turn = turns.find((each) => each.digits === digits);
  return turn === undefined ? ROOT_ID : `ctrees:turn:${pythonStr(turn.given)}`;
};
