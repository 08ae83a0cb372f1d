import { fail } from '@stemma/errors';
import { SNAPSHOT_ATTRIBUTES, type SelectorGroup } from './syntax.ts';

/**
 * Refuses attributes that only snapshots have: the working state and positions between commits have no `age`, `depth`
 * and `born_turn` (context-tree §6, §10.23).
 *
 * @throws E_SELECTOR_INVALID with the character of the attribute.
 */
export const refuseSnapshotAttributes = (groups: readonly SelectorGroup[]): void => {
  for (const { compound } of groups.flat()) {
    if (compound.kind !== 'node') continue;
    const refused = compound.attributes.find(({ key }) => SNAPSHOT_ATTRIBUTES.has(key));
    if (refused !== undefined)
      throw fail(
        'E_SELECTOR_INVALID',
        `at character ${refused.position + 1}: only snapshots have ${refused.key}; ask one, such as @t0 or @c3`,
        { at: refused.position },
      );
  }
};
