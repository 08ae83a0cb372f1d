/** A mutant that changes no behaviour, found by hand. It is known by its text, so that it survives changes elsewhere. */
export type EquivalentMutant = {
  readonly file: string;
  readonly original: string;
  readonly replacement: string;
  /** Part of the mutant's line, where the file has the same text elsewhere and there it matters. */
  readonly line?: string;
  readonly reason: string;
};
