import { attempt } from '@stemma/errors';
import type { Generation, GenerationView } from '@stemma/row-store';
import { isMissing } from '@stemma/suspend';
import { inGeneration } from './repair.ts';

/** What `fn` makes of the generation that is current, `first` at first, also if another one becomes current meanwhile. */
export const readCurrent = async <T>(
  first: Generation,
  generation: () => Promise<Generation>,
  fn: (view: GenerationView, generation: string) => T,
): Promise<T> => {
  for (let now = first; ;) {
    // What is missing is no answer yet: it is fetched, and `fn` called again.
    const result = await now.read((view) => attempt(() => fn(view, now.name), isMissing));
    const then = await generation();
    if (then !== now) {
      // Another one became current, and this one may have been dropped while it was read, and so have been empty.
      now = then;
      continue;
    }
    try {
      return result();
    } catch (error) {
      throw inGeneration(error, now.name);
    }
  }
};
