import { excerptOf, firstWords } from '@stemma/api';
import { NODE_KIND } from '@stemma/context-tree';
import { branchRefOf, type TreeAt } from '@stemma/history-store';
import type { Home } from '@stemma/home';
import type { HistorySummary } from '@stemma/queries';
import { LRUCache } from 'lru-cache';
import { positionOrNull } from './positions.ts';

const CHARACTERS = 160;
/** Blocks of users that are looked at for words. */
const BLOCKS = 20;
const MAX_PREVIEWS = 100_000;

/** Gives the first words of a history's first user message; null while no user has spoken, or none can be read. */
export type Previews = (summary: HistorySummary) => Promise<string | null>;

/** Previews that are kept once they are found: the first message of a history does not change. */
export const openPreviews = (home: Home): Previews => {
  const cached = new LRUCache<string, { readonly frames: number; readonly preview: string | null }>({
    maxSize: MAX_PREVIEWS,
    sizeCalculation: () => 1,
  });
  return async (summary) => {
    const known = cached.get(summary.history);
    if (known !== undefined && (known.preview !== null || known.frames === summary.frames))
      return known.preview;
    // A history that is damaged at its very beginning has no preview; its state says why.
    const preview = await firstUserWords(home, summary.history).catch(() => null);
    cached.set(summary.history, { frames: summary.frames, preview });
    return preview;
  };
};

const firstUserWords = async (home: Home, history: string): Promise<string | null> => {
  const branchRef = branchRefOf(history, 0);
  const first = await positionOrNull(home, branchRef, '@c1');
  const words = first === null ? null : await userWords(home, await home.read.tree(first));
  return words ?? userWords(home, await home.read.tree(await home.position(branchRef)));
};

const userWords = (home: Home, { tree, position }: TreeAt): Promise<string | null> =>
  home.read.withPayloads(position.history, (payloads) => {
    let examined = 0;
    for (let i = tree.seq; i < tree.count && examined < BLOCKS; i++) {
      const ref = tree.payloads[i];
      if (tree.kinds[i] !== NODE_KIND.block || (tree.headers[i]?.role ?? 'user') !== 'user' || !ref) continue;
      examined++;
      const excerpt = excerptOf(payloads(ref)['content'], CHARACTERS * 4);
      const words = firstWords(excerpt?.text ?? '', CHARACTERS);
      if (words !== '') return words;
    }
    return null;
  });
