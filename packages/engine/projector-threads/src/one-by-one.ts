let opening: Promise<unknown> = Promise.resolve();

/** Runs `open` when no other thread of this process opens LMDB's trees: it keeps their handles for the whole process. */
export const oneByOne = (open: () => Promise<unknown>): Promise<unknown> => {
  const mine = opening.then(open);
  opening = mine.catch(() => undefined);
  return mine;
};
