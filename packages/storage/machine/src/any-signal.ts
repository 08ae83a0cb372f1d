/** The signals that each of these follows: they live as long as it does. */
const followed = new WeakMap<AbortSignal, readonly AbortSignal[]>();

/**
 * A signal that aborts with the first of others. `AbortSignal.any` of Node.js 24 holds them weakly: nobody who listens to it then, one that
 * aborts and is collected before somebody looks, as a timeout is, leaves a signal that never aborts.
 */
export const anySignal = (signals: readonly AbortSignal[]): AbortSignal => {
  // eslint-disable-next-line no-restricted-properties -- The one place.
  const any = AbortSignal.any([...signals]);
  followed.set(any, signals);
  return any;
};
