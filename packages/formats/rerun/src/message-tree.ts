/** Lists of messages, of which each has a number: lists that begin alike share the numbers of what they begin with. */
export type MessageTree = {
  /** The list with a message more; undefined if no such list was added. */
  readonly follow: (list: number, message: number) => number | undefined;
  readonly add: (list: number, message: number) => number;
};

export const EMPTY_LIST = 0;

/** @param counted called for each look-up */
export const openMessageTree = (counted: () => void): MessageTree => {
  const lists = [new Map<number, number>()];
  const follow = (list: number, message: number): number | undefined => {
    counted();
    return lists[list]?.get(message);
  };
  return {
    follow,
    add: (list, message) => {
      const known = follow(list, message);
      if (known !== undefined) return known;
      lists[list]?.set(message, lists.length);
      return lists.push(new Map()) - 1;
    },
  };
};
