import type { FoldedCounts } from '@stemma/projector';
import type { RowsAddress } from '@stemma/row-store';
import type { SentModels } from '../sent-models.ts';
import type { SentPart } from './sent-part.ts';

/** What a thread that folds is started with. */
export type FoldWorkerOptions = SentModels & {
  readonly rows: RowsAddress;
  /** The names of the generation's tables, in its order. */
  readonly tables: readonly string[];
  readonly partitions: number;
  /** Bytes of trees and of frames to cache. */
  readonly treeBytes: number;
  readonly frameBytes: number;
};

export type ToWorker =
  | { readonly kind: 'open' }
  | { readonly kind: 'fold'; readonly run: number; readonly part: SentPart }
  | { readonly kind: 'committed'; readonly window: number }
  /** Parts of earlier runs are dropped. */
  | { readonly kind: 'reset'; readonly run: number }
  | { readonly kind: 'answer'; readonly id: number; readonly answer: FoldAnswer }
  | { readonly kind: 'close' };

export type FromWorker =
  | { readonly kind: 'loaded' }
  | { readonly kind: 'opened' }
  | {
      readonly kind: 'folded';
      readonly run: number;
      readonly window: number;
      readonly counts: FoldedCounts;
      readonly encoded: Uint8Array;
    }
  /** It was not folded as frames usually are; whoever started it folds it once more and meets the error. */
  | { readonly kind: 'refused'; readonly run: number; readonly window: number; readonly reason: string }
  | { readonly kind: 'ask'; readonly id: number; readonly question: FoldQuestion }
  | { readonly kind: 'closed' };

/** What a thread that folds has others read: a record of the log, or a content. */
export type FoldQuestion =
  | { readonly kind: 'record'; readonly partition: number; readonly offset: number }
  | { readonly kind: 'content'; readonly sha256: string; readonly size: number };

/** Its bytes; or none, and why. */
export type FoldAnswer = {
  readonly bytes: Uint8Array | null;
  readonly next: number;
  readonly reason: string;
};
