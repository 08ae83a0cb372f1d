import { fail } from '@stemma/errors';
import { parseCompound } from './parse-compound.ts';
import { parseMarker } from './parse-marker.ts';
import { atEnd, invalid, peek, skipSpace, take, type Scanner } from './scanner.ts';
import { refuseSnapshotAttributes } from './snapshot-attributes.ts';
import { MAX_SELECTOR_LENGTH, type Selector, type SelectorGroup, type SelectorStep } from './syntax.ts';

/**
 * The parts of a selector of context-tree §6, the whole grammar. Takes time in proportion to its length.
 *
 * @param options.snapshot without a marker the selector is asked of snapshots all the same (of both sides of a diff), so
 *   that `age`, `depth` and `born_turn` are no error here.
 * @throws E_SELECTOR_INVALID with the character where it goes wrong; E_SNAPSHOT_RANGE_WILDCARD,
 *   E_SNAPSHOT_RANGE_KIND_MISMATCH.
 */
export const parseSelector = (text: string, { snapshot = false } = {}): Selector => {
  if (text.length > MAX_SELECTOR_LENGTH)
    throw fail(
      'E_SELECTOR_INVALID',
      `the selector has ${text.length} characters, more than ${MAX_SELECTOR_LENGTH}`,
    );
  const scanner: Scanner = { text, at: 0 };
  skipSpace(scanner);
  const at = peek(scanner) === '@' ? parseMarker(scanner) : ({ kind: 'working' } as const);
  if (at.kind !== 'working' && !skipSpace(scanner)) throw invalid(scanner, 'a space after the snapshot');
  const groups: SelectorGroup[] = [];
  do {
    skipSpace(scanner);
    groups.push(parseGroup(scanner));
  } while (take(scanner, ','));
  if (!atEnd(scanner)) throw invalid(scanner, 'a space, “>”, “,” or the end');
  if (at.kind === 'working' && !snapshot) refuseSnapshotAttributes(groups);
  return { at, groups };
};

const parseGroup = (scanner: Scanner): SelectorGroup => {
  const steps: SelectorStep[] = [
    { combinator: 'start', position: scanner.at, compound: parseCompound(scanner) },
  ];
  for (;;) {
    const space = skipSpace(scanner);
    if (atEnd(scanner) || peek(scanner) === ',') return steps;
    const child = take(scanner, '>');
    if (!child && !space) return steps;
    skipSpace(scanner);
    steps.push({
      combinator: child ? 'child' : 'descendant',
      position: scanner.at,
      compound: parseCompound(scanner),
    });
  }
};
