/** Says a sentence of each kind once; again after `clear`. It never throws. */
export type Warnings = {
  say(kind: string, sentence: string): void;
  /** What was wrong is right again. */
  clear(kind: string): void;
};

export const openCallWarnings = (say: (sentence: string) => void): Warnings => {
  const said = new Set<string>();
  return {
    say: (kind, sentence) => {
      if (said.has(kind)) return;
      said.add(kind);
      try {
        say(sentence);
      } catch {
        // It is the program's own function: nothing of it reaches the agent's call.
      }
    },
    clear: (kind) => void said.delete(kind),
  };
};
