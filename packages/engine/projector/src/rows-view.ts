import type { CellReader, GenerationView, KeyCell, Table } from '@stemma/row-store';

/** A view whose rows are read in a way of its own: all else is that of the view below. A class, as each read makes one. */
export abstract class RowsView implements Omit<GenerationView, keyof CellReader> {
  protected readonly view: CellReader & Omit<GenerationView, keyof CellReader>;

  constructor(view: GenerationView) {
    this.view = view;
  }

  cursor(partition: number): Uint8Array | null {
    return this.view.cursor(partition);
  }

  partitions(): readonly number[] {
    return this.view.partitions();
  }

  count(table: Table, owner: KeyCell): number {
    return this.view.count(table, owner);
  }

  removals(table: Table): string | undefined {
    return this.view.removals?.(table);
  }
}
