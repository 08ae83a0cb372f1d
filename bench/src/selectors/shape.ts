/** What both systems hold: turns of 20 nodes, a head of 20 blocks, a system header of 5. */
export type Shape = { readonly turns: number; readonly block: (place: string, n: number) => Block };

export type Block = {
  readonly id: string;
  readonly role: 'user' | 'assistant' | 'tool';
  /** Of one block in a thousand; null of the others. */
  readonly ttl: number | null;
};

export const BLOCKS_IN_CORE = 17;
export const BLOCKS_IN_HEAD = 20;
export const BLOCKS_IN_SYS = 5;

const ROLES = ['user', 'assistant', 'tool'] as const;

export const shapeOf = (nodes: number): Shape => {
  let made = 0;
  return {
    turns: Math.floor(nodes / (BLOCKS_IN_CORE + 3)),
    block: (place, n) => {
      made += 1;
      return { id: `${place}-${n}`, role: ROLES[made % 3]!, ttl: made % 1_000 === 0 ? 1 + (made % 7) : null };
    },
  };
};

/** The same questions in both languages; an id in the middle. */
export const questions = (turns: number): readonly { readonly stemma: string; readonly css: string }[] => {
  const id = `c${Math.floor(turns / 2)}-3`;
  return [
    { stemma: `@t0 #${id}`, css: `#${id}` },
    { stemma: '@t0 ^ah .cb', css: 'ah cb' },
    {
      stemma: "@t0 .mt:depth(1-3) .cb[role='assistant']",
      css: ['1', '2', '3'].map((depth) => `mt[depth="${depth}"] cb[role="assistant"]`).join(', '),
    },
    { stemma: '@t0 .cb[ttl<=1]', css: 'cb[ttl="0"], cb[ttl="1"]' },
    { stemma: "@t0 ^seq .mt > .mc > .cb[role='assistant']", css: 'seq mt > mc > cb[role="assistant"]' },
  ];
};

export type SelectorInput = { readonly nodes: number; readonly question: number; readonly rounds: number };
/** Milliseconds of the first answer on a tree that nothing was asked of, and of later ones. */
export type Answered = { readonly cold: number; readonly warm: number; readonly found: number };
