/**
 * Gives results in the order of the calls, though the work for one of them takes longer: commands on one history are
 * decided in that order.
 */
export const inOrder = <T>(): ((work: Promise<T>) => Promise<T>) => {
  let before: Promise<unknown> = Promise.resolve();
  return (work) => {
    const turn = before.then(() => work);
    before = turn.catch(() => undefined);
    work.catch(() => undefined); // reported where the turn is awaited
    return turn;
  };
};
