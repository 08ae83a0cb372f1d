import type { AcceptedFrame, HeadState } from '@stemma/log';
import { type FoldContext, type FoldedCounts, foldFrames, type StagedBatch } from '@stemma/projector';
import {
  encodeChanges,
  stageRows,
  typedRows,
  type CellReader,
  type RowChange,
  type RowSource,
  type StagedRows,
  type Table,
} from '@stemma/row-store';

/** The frames of a checked window that one folder folds: those of some histories. */
export type FramePart = {
  /** Counts the windows of a run, from 0. */
  readonly window: number;
  readonly accepted: readonly AcceptedFrame[];
  /** Heads that changed, of the same histories. */
  readonly heads: ReadonlyMap<string, HeadState>;
  /** By history, the read models on demand that are folded with every frame. */
  readonly eager: ReadonlyMap<string, readonly string[]>;
};

/** The rows of a part, in the thread that folded it. */
export type FoldedRows = { readonly counts: FoldedCounts; readonly changes: RowChange[] };

/** The rows of a part for the thread that commits them, as `encodeChanges` gives them. */
export type FoldedPart = { readonly counts: FoldedCounts; readonly encoded: Uint8Array };

/** The list of changes is empty afterwards. @param tables of the generation, in its order */
export const encodedPart = (tables: readonly Table[], { counts, changes }: FoldedRows): FoldedPart => {
  const encoded = encodeChanges(tables, changes);
  changes.length = 0;
  return { counts, encoded };
};

/**
 * Folds the parts of a run, all of the same histories, ahead of the rows: what it has folded it sees, committed or not.
 * After an error it must be `reset`.
 */
export type PartFolder = {
  /** @throws what `foldFrames` throws, when it is called for one part after the other */
  fold(part: FramePart): Promise<FoldedRows>;
  /** The rows of all windows up to this one are committed, and seen by who reads committed rows. */
  committed(window: number): void;
  /** Forgets all that is not committed. */
  reset(): void;
};

export type PartFolderOptions = {
  readonly context: Omit<FoldContext, 'eager'>;
  /** The committed rows. */
  readonly rows: () => RowSource;
};

/** A branch of which so many parts had no frame is read from its rows when one has. */
const IDLE_PARTS = 4;

/** Rows that are folded and not yet committed, over those of the part before. */
type Layer = { readonly window: number; readonly staged: StagedRows; below: Layer | undefined };

export const openPartFolder = ({ context, rows }: PartFolderOptions): PartFolder => {
  const layers: Layer[] = [];
  const stage = (window: number): Layer => {
    const source = rows();
    const layer: Layer = {
      window,
      below: layers.at(-1),
      staged: stageRows(
        typedRows<CellReader>({
          get: (table, key) => ((layer.below?.staged ?? source) as CellReader).get(table, key),
          range: (table, range) => ((layer.below?.staged ?? source) as CellReader).range(table, range),
        }),
      ),
    };
    return layer;
  };
  return {
    async fold({ window, accepted, heads, eager }) {
      const layer = stage(window);
      const source = rows();
      const staged: StagedBatch = Object.assign(layer.staged, {
        using: <T>(fn: () => T | Promise<T>) => source.using(fn),
      });
      const counts = await foldFrames({ accepted, heads }, staged, {
        ...context,
        eager: (history, model) => eager.get(history)?.includes(model) === true,
      });
      layers.push(layer);
      context.branchCache.evictUnused(IDLE_PARTS);
      return { counts, changes: layer.staged.changes() };
    },
    committed(window) {
      while ((layers[0]?.window ?? Infinity) <= window) layers.shift()?.staged.clear();
      const [lowest] = layers;
      if (lowest !== undefined) lowest.below = undefined;
    },
    reset() {
      layers.length = 0;
      context.branchCache.clear();
    },
  };
};
