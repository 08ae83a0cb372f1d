import { historyId, type Step } from '@stemma/history';
import type { Home } from '@stemma/home';
import { seeded, whole, type Random } from '../text.ts';

export const NODES_A_HISTORY = 1_000;
const NODES_A_CALL = 20;
/** Of how many nodes one has the rare word. */
const RARE = 10_000;
/** In no text but those. */
export const RARE_WORD = 'zyxwvut';

const ROLES = ['user', 'assistant', 'tool', 'assistant'] as const;

export const nameOf = (history: number): string => `talk-${history}`;

/** 50,000 different words, the most frequent one first. */
export const VOCABULARY: readonly string[] = (() => {
  const random = seeded(7);
  const pick = (from: string): string => from[whole(random, from.length)] as string;
  const found = new Set<string>();
  while (found.size < 50_000) {
    const syllables = 1 + Math.min(3, Math.floor(found.size / 400));
    found.add(
      Array.from({ length: syllables }, () => pick('bcdfghklmnprstvw') + pick('aeiou')).join('') +
        pick('nrstlm'),
    );
  }
  return [...found];
})();

/**
 * As words of a language are distributed (Zipf): the first is every twelfth word, and half of all different words are in one
 * text of a thousand or less. One text of ten is long.
 */
const said = (random: Random): string => {
  const length = random() < 0.1 ? 150 + whole(random, 200) : 8 + whole(random, 60);
  const words: string[] = [];
  for (let i = 0; i < length; i++)
    words.push(VOCABULARY[Math.floor(VOCABULARY.length ** random()) - 1] as string);
  return `${words.join(' ')}.`;
};

/** Histories of 1,000 nodes each: a system's line in each call, then users, assistants and tools. */
export const record = async (home: Home, nodes: number): Promise<void> => {
  const random = seeded(17);
  let count = 0;
  for (let at = 0; at * NODES_A_HISTORY < nodes; at++) {
    const name = nameOf(at);
    const history = historyId(name, '');
    const submit = (id: string, steps: readonly Step[]) =>
      home.submit({ id, history, branchId: 0, by: { recorder: 'bench' }, steps: [...steps] });
    await submit(`start-${at}`, [{ op: 'start', name }]);
    const block = (i: number): Step => {
      const text = said(random);
      const content = count++ % RARE === 0 ? `${text} ${RARE_WORD}` : text;
      const role = i % NODES_A_CALL === 0 ? 'system' : (ROLES[i % ROLES.length] as string);
      return { op: 'insert', parent: '^ah', node: { nodeType: 'cb', role, content } };
    };
    for (let from = 0; from < NODES_A_HISTORY; from += NODES_A_CALL)
      await submit(`call-${at}-${from}`, [
        ...Array.from({ length: NODES_A_CALL }, (_, i) => block(from + i)),
        { op: 'commit' },
      ]);
  }
};
