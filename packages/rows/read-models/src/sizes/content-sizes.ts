import type { EventRef } from '@stemma/context-tree';

/** Of a content: the bytes of its canonical JSON, and its tokens. */
export type ContentSize = { readonly bytes: number; readonly tokens: number };

/** Sizes of a history's contents by the events that hold them: what was counted stays true, so a hit changes no result. */
export type ContentSizes = {
  get(ref: EventRef): ContentSize | undefined;
  set(ref: EventRef, size: ContentSize): void;
};

/** The sizes of the newest contents, of as many at least and at most twice as many. */
export const openContentSizes = (least: number): ContentSizes => {
  let [older, newer] = [new Map<string, ContentSize>(), new Map<string, ContentSize>()];
  const keyOf = ({ seq, index }: EventRef): string => `${seq}.${index}`;
  return {
    get: (ref) => newer.get(keyOf(ref)) ?? older.get(keyOf(ref)),
    set(ref, size) {
      if (newer.size >= least) [older, newer] = [newer, new Map<string, ContentSize>()];
      newer.set(keyOf(ref), size);
    },
  };
};
