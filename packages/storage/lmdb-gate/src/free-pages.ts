import { damaged, integerAt } from './damage.ts';
import { FREE, type Pages } from './pages.ts';

/**
 * The lists of free pages: LMDB writes over whatever they name. A list is its length and as many numbers: 0 for none, a
 * page, or a count below zero and the first of so many pages, as lmdb-js has them. @throws LmdbDamage
 */
export const walkFreePages = (pages: Pages, lists: readonly Buffer[]): void => {
  for (const list of lists) {
    const length = list.length < 8 ? Number.NaN : integerAt(list, 0);
    if (!(length >= 0 && length * 8 + 8 <= list.length)) damaged(`${FREE} has a length that does not fit`);
    let count = 1;
    for (let i = 1; i <= length; i++) {
      const high = list.readInt32LE(i * 8 + 4);
      const number = high * 2 ** 32 + list.readUInt32LE(i * 8);
      if (number < 0) count = -number;
      else {
        if (number > 0) pages.use(number, count, FREE);
        count = 1;
      }
    }
  }
};
