import type { RecordChange } from './node.ts';

/** A point in the journal to roll back to. */
export type JournalSavepoint = { readonly undos: number; readonly changes: number };

/** The changes of a tree: how to undo each step, and which records changed. */
export class Journal {
  readonly #undos: (() => void)[] = [];
  readonly #changes: RecordChange[] = [];

  /** Adds the undo of a step that was just done. */
  undo(back: () => void): void {
    this.#undos.push(back);
  }

  change(change: RecordChange): void {
    this.#changes.push(change);
  }

  savepoint(): JournalSavepoint {
    return { undos: this.#undos.length, changes: this.#changes.length };
  }

  changesSince(savepoint: JournalSavepoint): readonly RecordChange[] {
    return this.#changes.slice(savepoint.changes);
  }

  rollbackTo(savepoint: JournalSavepoint): void {
    while (this.#undos.length > savepoint.undos) this.#undos.pop()?.();
    this.#changes.length = savepoint.changes;
  }

  forget(): void {
    this.#undos.length = 0;
    this.#changes.length = 0;
  }
}
