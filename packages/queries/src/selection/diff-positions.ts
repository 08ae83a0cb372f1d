import { fail } from '@stemma/errors';
import type { Position } from '@stemma/history-store';
import { parseSelector } from '@stemma/selectors';
import type { DiffResult } from '../read-types.ts';
import { diffNear } from './diff-near.ts';
import { idsAt, type Asked } from './select-ids.ts';

/**
 * The difference of two positions of one history, `a` counting as the older one (context-tree §7); with a selector,
 * which then names no snapshot, restricted to what it matches in either.
 *
 * @throws E_SELECTOR_INVALID
 */
export const diffPositions = async (
  asked: Asked,
  a: Position,
  b: Position,
  text?: string,
): Promise<DiffResult> => {
  const { projector } = asked;
  const only = text === undefined ? undefined : await idsInEither(asked, a, b, text);
  return diffNear(projector, a, b, only);
};

const idsInEither = async (
  asked: Asked,
  a: Position,
  b: Position,
  text: string,
): Promise<ReadonlySet<string>> => {
  const { at, groups } = parseSelector(text, { snapshot: true });
  if (at.kind !== 'working')
    throw fail(
      'E_SELECTOR_INVALID',
      'at character 1: the positions of a diff are named beside its selector',
      { at: 0 },
    );
  const [before, after] = [await idsAt(asked, a, { at, groups }), await idsAt(asked, b, { at, groups })];
  return new Set([...before, ...after]);
};
