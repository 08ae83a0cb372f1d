import type { EventRef } from '@stemma/context-tree';
import { RecentMap } from '@stemma/values';

/** Of a content: the bytes of its canonical JSON, and its tokens. */
export type ContentSize = { readonly bytes: number; readonly tokens: number };

/** Sizes of a history's contents by the events that hold them: what was counted stays true, so a hit changes no result. */
export type ContentSizes = {
  get(ref: EventRef): ContentSize | undefined;
  set(ref: EventRef, size: ContentSize): void;
};

/** The sizes of the contents used last, of as many at least and at most twice as many. */
export const openContentSizes = (least: number): ContentSizes => {
  const sizes = new RecentMap<string, ContentSize>(least);
  const keyOf = ({ seq, index }: EventRef): string => `${seq}.${index}`;
  return {
    get: (ref) => sizes.get(keyOf(ref)),
    set: (ref, size) => sizes.set(keyOf(ref), size),
  };
};
