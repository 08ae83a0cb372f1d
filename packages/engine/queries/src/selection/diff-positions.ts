import { fail } from '@stemma/errors';
import type { Position } from '@stemma/history-store';
import { parseSelector } from '@stemma/selectors';
import type { DiffResult } from '../read-types.ts';
import { diffTreesAt } from './diff-trees-at.ts';
import { idsAt, type SelectSources } from './select-ids.ts';

/**
 * The difference of two positions of one history, `a` as the older one (context-tree §7); with a selector,
 * which must name no snapshot, restricted to what it matches in either.
 *
 * @throws E_SELECTOR_INVALID
 */
export const diffPositions = async (
  sources: SelectSources,
  a: Position,
  b: Position,
  text?: string,
): Promise<DiffResult> => {
  const { projection } = sources;
  const wantedIds = text === undefined ? undefined : await idsInEither(sources, a, b, text);
  return diffTreesAt(projection, a, b, wantedIds);
};

const idsInEither = async (
  sources: SelectSources,
  a: Position,
  b: Position,
  text: string,
): Promise<ReadonlySet<string>> => {
  const { at, groups } = parseSelector(text, { snapshot: true });
  if (at.kind !== 'working')
    throw fail(
      'E_SELECTOR_INVALID',
      'at character 1: the positions of a diff are given beside its selector',
      { at: 0 },
    );
  const [before, after] = [await idsAt(sources, a, { at, groups }), await idsAt(sources, b, { at, groups })];
  return new Set([...before, ...after]);
};
