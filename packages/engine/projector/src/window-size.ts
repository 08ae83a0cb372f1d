/** How much of a log is folded together, and committed together at the earliest. */
export type WindowSize = {
  /** Of records; undefined: what a log gives by itself, which is about 1 MiB. */
  readonly bytes: number | undefined;
  /** What was folded in a window: the next may have another size. */
  folded(counts: { readonly events: number; readonly nodesRead: number }): void;
};

const LEAST = 1024 * 1024;
/** In such a window a history has eight times as many frames, for which its tree is read once. */
const MOST = 8 * LEAST;
/** Reading a node takes about a twentieth of the time of folding an event: trees may take half as long as events. */
const MANY_NODES = 10;
/** Windows half as large read up to twice as many nodes. */
const FEW_NODES = 4;

/** A window is as small as is good for memory, and larger while trees that were evicted are read again and again. */
export const openWindowSize = (): WindowSize => {
  let bytes = LEAST;
  return {
    get bytes() {
      return bytes === LEAST ? undefined : bytes;
    },
    folded({ events, nodesRead }) {
      if (nodesRead > events * MANY_NODES) bytes = Math.min(MOST, bytes * 2);
      else if (nodesRead < events * FEW_NODES) bytes = Math.max(LEAST, bytes / 2);
    },
  };
};
