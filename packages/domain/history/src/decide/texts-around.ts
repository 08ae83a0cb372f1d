/** So much that is equal is kept before and behind what differs. */
const AROUND = 300;

/** Two texts around what differs in them. */
export type TextsAround = {
  readonly recorded: string | null;
  readonly now: string | null;
  /** False: the ends are cut, and `…` stands there. */
  readonly isWhole: boolean;
};

/**
 * The parts of two texts around what differs in them, each of at most `most` characters: of two long prompts with one changed word,
 * that word and the 300 characters before and behind it.
 *
 * @param recorded null: there was none
 * @param now null: there is none
 */
export const textsAround = (recorded: string | null, now: string | null, most: number): TextsAround => {
  const [a, b] = [recorded ?? now ?? '', now ?? recorded ?? ''];
  const isSame = recorded === null || now === null || a === b;
  const shortest = Math.min(a.length, b.length);
  let before = 0;
  while (!isSame && before < shortest && a[before] === b[before]) before++;
  let behind = 0;
  while (!isSame && behind < shortest - before && a[a.length - 1 - behind] === b[b.length - 1 - behind])
    behind++;
  const from = Math.max(0, before - AROUND);
  const left = Math.max(0, behind - AROUND);
  if (Math.max(a.length, b.length) <= most) return { recorded, now, isWhole: true };
  const cut = (text: string | null): string | null => {
    if (text === null) return null;
    const end = Math.max(from, Math.min(text.length - left, from + most));
    return `${from > 0 ? '…' : ''}${text.slice(from, end).toWellFormed()}${end < text.length ? '…' : ''}`;
  };
  return { recorded: cut(recorded), now: cut(now), isWhole: false };
};
