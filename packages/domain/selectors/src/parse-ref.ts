import { parseMarker } from './parse-marker.ts';
import { atEnd, invalid, type Scanner } from './scanner.ts';
import type { Marker } from './syntax.ts';

/** A position as people name it: the branch if it is named (by id or name), and where on its ancestor path. */
export type Ref = { readonly branch: string | null; readonly at: Marker };

/**
 * The position that a reference names: `@t0`, `@t-1`, `@c12`, `@s57`, `@name:NAME`, `@*`, each also with its branch in
 * front (`BRANCH@c3`); the empty text is the working state (context-tree §5).
 *
 * @throws E_SELECTOR_INVALID, also for ranges: a reference is one position.
 */
export const parseRef = (text: string): Ref => {
  if (text === '') return { branch: null, at: { kind: 'working' } };
  const scanner: Scanner = { text, at: text.indexOf('@') };
  if (scanner.at === -1) throw invalid(scanner, 'a reference such as @t0, @c12 or BRANCH@c3', 0);
  const branch = scanner.at === 0 ? null : text.slice(0, scanner.at);
  const at = parseMarker(scanner);
  if (!atEnd(scanner)) throw invalid(scanner, 'the end of the reference');
  if (at.kind === 'range') throw invalid(scanner, 'one position, not a range', 0);
  return { branch, at };
};
