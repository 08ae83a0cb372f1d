import { sha256Hex } from '@stemma/canonical';
import type { NodeFacts } from './describe-node.ts';
import type { ExactJson } from './exact-json.ts';
import { compareDigits } from './exact-numbers.ts';
import { turnDigits } from './node.ts';
import { printPlain } from './print-exact.ts';
import type { Profile } from './profile.ts';
import { pythonStr } from './python-text.ts';
import { turnIds, type Turn } from './turns.ts';
import { ROOT_ID, type TreeViewNode } from './view-node.ts';

/** One node for the collapsed messages of each turn, turns ascending, those without a turn last. */
export const collapsedGroups = (
  profile: Profile,
  nodes: readonly NodeFacts[],
  turns: readonly Turn[],
  collapsedIds: readonly string[],
): readonly TreeViewNode[] => {
  const parents = turnIds(turns);
  const turnOf = new Map(nodes.map(({ id, turn }) => [id, turn]));
  const groups = new Map<string | null, { readonly turn: ExactJson; readonly ids: string[] }>();
  for (const id of collapsedIds) {
    const turn = turnOf.get(id) ?? null;
    const digits = turnDigits(profile, turn);
    const group = groups.get(digits) ?? { turn: digits === null ? null : turn, ids: [] };
    group.ids.push(id);
    groups.set(digits, group);
  }
  return [...groups]
    .sort(([a], [b]) => compareTurns(a, b))
    .map(([digits, { turn, ids }]) => ({
      id: `ctrees:collapsed:${turn === null ? 'unknown' : pythonStr(turn)}`,
      parent_id: parents.get(digits ?? '') ?? ROOT_ID,
      kind: 'collapsed',
      turn,
      label: `collapsed ${ids.length} messages`,
      meta: { collapsed_ids: ids, collapsed_sha256: sha256Hex(printPlain(ids)) },
    }));
};

const compareTurns = (a: string | null, b: string | null): number =>
  a === null || b === null ? Number(a === null) - Number(b === null) : compareDigits(a, b);
