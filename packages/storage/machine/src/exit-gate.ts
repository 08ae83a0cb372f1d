import { endProcess } from './end-process.ts';

/*
 * When a process ends, Node.js stops its threads wherever they are, and cleans up what they had open. If a thread is stopped inside
 * of a transaction of LMDB, that cleanup waits for a lock that nobody will release, and the process never ends. So whoever ends
 * the process waits until its writing threads are between two transactions, where they then stay.
 */

/** Memory that a writing thread shares with the one that ends the process: whether it is inside, and whether it must stay out. */
export type ExitGate = SharedArrayBuffer;

const INSIDE = 0;
const LEAVING = 1;

export const newExitGate = (): ExitGate => new SharedArrayBuffer(2 * Int32Array.BYTES_PER_ELEMENT);

/** For the writing thread: enters, or returns false since the process is ending. */
export const enterGate = (gate: ExitGate): boolean => {
  const state = new Int32Array(gate);
  Atomics.store(state, INSIDE, 1);
  if (Atomics.load(state, LEAVING) === 0) return true;
  leaveGate(gate);
  return false;
};

export const leaveGate = (gate: ExitGate): void => {
  const state = new Int32Array(gate);
  Atomics.store(state, INSIDE, 0);
  Atomics.notify(state, INSIDE);
};

/** The thread does not enter any more, as when the process ends. */
export const keepOut = (gate: ExitGate): void => void Atomics.store(new Int32Array(gate), LEAVING, 1);

export const isLeaving = (gate: ExitGate): boolean => Atomics.load(new Int32Array(gate), LEAVING) === 1;

/** Whether the thread is inside: if it has ended there, its lock is never released as long as the process lives. */
export const isInside = (gate: ExitGate): boolean => Atomics.load(new Int32Array(gate), INSIDE) === 1;

/** Milliseconds that the end of a process waits for its writing threads. A disk that takes longer has lost nothing by it. */
const BOUND = 5_000;

/** With how long is waited at each. */
const gates = new Map<ExitGate, number>();

const onExit = (code: number): void => {
  for (const gate of gates.keys()) Atomics.store(new Int32Array(gate), LEAVING, 1);
  for (const [gate, bound] of gates)
    if (Atomics.wait(new Int32Array(gate), INSIDE, 1, bound) === 'timed-out') endProcess(code);
};

/** The end of the process waits at this gate until it is taken away. @returns takes it away */
export const guardExit = (gate: ExitGate, bound = BOUND): (() => void) => {
  if (gates.size === 0) process.on('exit', onExit);
  gates.set(gate, bound);
  return () => {
    gates.delete(gate);
    if (gates.size === 0) process.off('exit', onExit);
  };
};
