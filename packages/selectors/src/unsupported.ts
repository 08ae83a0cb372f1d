import { fail, type StemmaError } from '@stemma/errors';
import { COMPARE } from './attributes.ts';
import type { Compound, Selector } from './syntax.ts';

/**
 * Refuses what the grammar has and this version does not answer yet, before anything is looked at.
 *
 * @throws E_SELECTOR_UNSUPPORTED naming it.
 */
export const refuseUnsupported = (selector: Selector): void => {
  if (selector.at.kind === 'all') throw unsupported('@*');
  if (selector.at.kind === 'range') throw unsupported('a range of snapshots');
  for (const { compound } of selector.groups.flat()) {
    const word = unsupportedIn(compound);
    if (word !== null) throw unsupported(word);
  }
};

const unsupportedIn = (compound: Compound): string | null => {
  if (compound.kind === 'any') return null;
  if (compound.kind === 'scope') return 'depth(…)';
  const pseudo = compound.pseudos[0];
  if (pseudo !== undefined) return `:${pseudo.name}`;
  for (const { key, op } of compound.attributes) {
    if (key === 'age') return '[age]';
    if (op !== null && COMPARE[op] === undefined) return `the operator ${op}`;
  }
  return null;
};

const unsupported = (word: string): StemmaError =>
  fail('E_SELECTOR_UNSUPPORTED', `this version of Stemma does not answer ${word} in a selector`, { word });
