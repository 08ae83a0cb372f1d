import { backOff } from '@stemma/errors';
import type { EntryOffset } from '../port.ts';
import { outcomeUnknown } from './append-answer.ts';
import type { Sent, Task } from './history-session.ts';
import * as policy from './retry-policy.ts';
import type { Accepted, WriterOptions } from './types.ts';

/** The commands of one partition without an answer: those that wait, by history, and those that were decided. */
export type PendingCommands<C> = {
  readonly partition: number;
  readonly random: () => number;
  readonly sleep: (milliseconds: number) => Promise<void>;
  readonly tries: number;
  readonly ahead: number;
  readonly overtaken: (frames: number) => void;
  /** Called when commands that had to pause may be decided again. */
  readonly wake: () => void;
  readonly queues: Map<string, Task<C>[]>;
  /** The paces of histories that are not `ahead`. */
  readonly paces: Map<string, policy.Pace>;
  readonly decided: Set<Task<C>>;
};

export const newPendingCommands = <C>(
  partition: number,
  { random, sleep, tries = 10, ahead = 256, overtaken = () => undefined }: WriterOptions<C>,
  wake: () => void,
): PendingCommands<C> => ({
  partition,
  random,
  sleep,
  tries,
  ahead,
  overtaken,
  wake,
  queues: new Map(),
  paces: new Map(),
  decided: new Set(),
});

/** The waiting commands of one history. */
export const queueOf = <C>({ queues }: PendingCommands<C>, history: string): Task<C>[] => {
  const queue = queues.get(history) ?? [];
  queues.set(history, queue);
  return queue;
};

export const forgetEmptyQueue = <C>({ queues }: PendingCommands<C>, history: string): void => {
  if (queues.get(history)?.length === 0) queues.delete(history);
};

const paceOf = <C>({ paces }: PendingCommands<C>, history: string): policy.Pace =>
  paces.get(history) ?? policy.AHEAD;

const setPace = <C>({ paces }: PendingCommands<C>, history: string, pace: policy.Pace): void => {
  if (pace.pace === 'ahead') paces.delete(history);
  else paces.set(history, pace);
};

/** The histories whose waiting commands may be decided now. */
export const readyHistories = <C>(commands: PendingCommands<C>): readonly string[] =>
  [...commands.queues.keys()].filter((history) => paceOf(commands, history).pace !== 'backing off');

/** How many frames of a history the next batch may hold. */
export const limitOf = <C>(commands: PendingCommands<C>, history: string): number =>
  policy.batchLimit(paceOf(commands, history), commands.ahead);

/** True if a command waits, or a pause is not over. */
export const areWaiting = <C>({ queues, paces }: PendingCommands<C>): boolean =>
  queues.size > 0 || [...paces.values()].some(({ pace }) => pace === 'backing off');

/** Answers a command whose frame is accepted. */
export const confirm = <C>(
  commands: PendingCommands<C>,
  { task, frame }: Sent<C>,
  { offset, next }: EntryOffset,
): void => {
  const { history, seq } = frame.envelope;
  const { partition } = commands;
  setPace(commands, history, policy.paceAfterAccepted(paceOf(commands, history)));
  commands.decided.delete(task);
  task.resolve({ history, partition, seq, repeated: false, frame, offset, next });
};

/** Answers a command that was accepted before. */
export const answerRepeated = <C>(
  { partition }: PendingCommands<C>,
  { intent: { history }, resolve }: Task<C>,
  { seq, frame }: Pick<Accepted, 'seq' | 'frame'>,
): void => {
  resolve({ history, partition, seq, repeated: true, frame, offset: null, next: null });
};

/** Puts commands back in the same order, to be decided again after a pause, because another writer was first. */
export const retry = <C>(
  commands: PendingCommands<C>,
  history: string,
  overtaken: readonly Sent<C>[],
): void => {
  commands.overtaken(overtaken.length);
  const retried: Task<C>[] = [];
  for (const { task } of overtaken) {
    commands.decided.delete(task);
    if (++task.tries < commands.tries) retried.push(task);
    else task.reject(policy.conflict(history, task.tries));
  }
  queueOf(commands, history).unshift(...retried);
  setPace(commands, history, policy.paceAfterConflict());
  const pause = backOff(overtaken[0]?.task.tries ?? 1, policy.retryBackOff(commands.random));
  void commands.sleep(pause).then(() => {
    setPace(commands, history, policy.paceAfterPause());
    forgetEmptyQueue(commands, history);
    commands.wake();
  });
};

export const rejectDecided = <C>(commands: PendingCommands<C>, task: Task<C>, error: unknown): void => {
  commands.decided.delete(task);
  task.reject(error);
};

/** Rejects waiting commands with the error, and decided ones with an unknown outcome: they may be in the log. */
export const rejectAll = <C>(commands: PendingCommands<C>, error: unknown): void => {
  for (const history of readyHistories(commands)) {
    const queue = queueOf(commands, history);
    commands.queues.delete(history);
    for (const task of queue) task.reject(error);
  }
  for (const task of commands.decided) task.reject(outcomeUnknown(task.intent, error));
  commands.decided.clear();
};
