import type { NodeFacts } from './describe-node.ts';
import type { ExactJson } from './exact-json.ts';
import { compareDigits } from './exact-numbers.ts';
import { turnDigits } from './node.ts';
import type { Profile } from './profile.ts';
import { pythonStr } from './python-text.ts';

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

/** The id of each turn's node, by the turn's digits; other nodes are directly under the root. */
export const turnIds = (turns: readonly Turn[]): ReadonlyMap<string, string> =>
  new Map(turns.map(({ digits, given }) => [digits, `ctrees:turn:${pythonStr(given)}`]));
