import type { Mutant } from './find-mutants.ts';

/** A mutant of a run with its number, by which it is switched on. */
export type NumberedMutant = Mutant & { readonly number: number };

/** The name of the global function that says whether a mutant is switched on. */
export const SWITCH = '__stemmaMutant';

/**
 * A source text that holds all its mutants at once, each behind its switch: so a module is loaded once for all of
 * them. `mutants` are those of this text: of two, one lies in the other, or they lie apart.
 */
export const withSwitches = (text: string, mutants: readonly NumberedMutant[]): string => {
  const ordered = [...mutants].sort((a, b) => a.from - b.from || b.to - a.to);
  let next = 0;
  const render = (from: number, to: number): string => {
    let out = '';
    let at = from;
    for (let first = ordered[next]; first !== undefined && first.from < to; first = ordered[next]) {
      const { from: start, to: end } = first;
      const here: NumberedMutant[] = [];
      for (let each = ordered[next]; each?.from === start && each.to === end; each = ordered[next]) {
        here.push(each);
        next++;
      }
      out += text.slice(at, start) + here.reduceRight(switched, render(start, end));
      at = end;
    }
    return out + text.slice(at, to);
  };
  return render(0, text.length);
};

const switched = (original: string, { number, replacement, isStatement }: NumberedMutant): string =>
  isStatement
    ? // In braces, or an `else` after it would be this one's.
      `{ if (!${SWITCH}(${number})) { ${original} } }`
    : `(${SWITCH}(${number}) ? (${replacement}) : (${original}))`;
