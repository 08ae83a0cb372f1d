import type { Change } from './node.ts';

/** A place in the journal, to go back to. */
export type Mark = { readonly undos: number; readonly changes: number };

/** What happened to a tree: how to take each step back, and what changed of records. */
export class Journal {
  readonly #undos: (() => void)[] = [];
  readonly #changes: Change[] = [];

  /** Notes how to take a step back that was just done. */
  undo(back: () => void): void {
    this.#undos.push(back);
  }

  change(change: Change): void {
    this.#changes.push(change);
  }

  mark(): Mark {
    return { undos: this.#undos.length, changes: this.#changes.length };
  }

  changesSince(mark: Mark): readonly Change[] {
    return this.#changes.slice(mark.changes);
  }

  undoTo(mark: Mark): void {
    while (this.#undos.length > mark.undos) this.#undos.pop()?.();
    this.#changes.length = mark.changes;
  }

  forget(): void {
    this.#undos.length = 0;
    this.#changes.length = 0;
  }
}
