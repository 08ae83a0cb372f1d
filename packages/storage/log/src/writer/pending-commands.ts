import { backOff, fail, isStemmaError, StemmaError, type BackOff } from '@stemma/errors';
import type { EntryOffset } from '../port.ts';
import type { Accepted, Intent, SentFrame, Task, WriterOptions } from './types.ts';

/*
 * How many frames of one history a batch may hold, after other writers were first (record §3):
 *
 *   pace           in one batch   when                                  then
 *   ahead          many           another writer's frame is accepted    backing off
 *   backing off    none           the pause is over                     one at a time
 *   one at a time  one            enough were accepted in a row        ahead
 *                                 another writer's frame is accepted    backing off
 */
export type Pace =
  | { readonly pace: 'ahead' }
  | { readonly pace: 'backing off' }
  /** `quietAfter`: how many more frames must be accepted in a row until the pace is `ahead`. */
  | { readonly pace: 'one at a time'; readonly quietAfter: number };

const QUIET_AFTER = 4;

export const AHEAD: Pace = { pace: 'ahead' };

/** The pace after another writer's frame was accepted instead of one that was sent. */
export const paceAfterConflict = (): Pace => ({ pace: 'backing off' });

/** The pace when the pause after a conflict is over. */
export const paceAfterPause = (): Pace => ({ pace: 'one at a time', quietAfter: QUIET_AFTER });

/** The pace after a frame of this writer was accepted. */
export const paceAfterAccepted = (pace: Pace): Pace => {
  if (pace.pace !== 'one at a time') return pace;
  return pace.quietAfter > 1 ? { ...pace, quietAfter: pace.quietAfter - 1 } : AHEAD;
};

/** How many frames of the history the next batch may hold. */
export const batchLimit = ({ pace }: Pace, ahead: number): number =>
  pace === 'ahead' ? ahead : pace === 'one at a time' ? 1 : 0;

/** The pauses before a command is decided again, or a frame is sent again. */
export const retryBackOff = (random: () => number): BackOff => ({ first: 2, longest: 128, random });

/** The error for a command when other writers were first too often. */
const conflict = (history: string, tries: number): Error =>
  fail(
    'E_CONFLICT',
    `others wrote to the history ${history} ${tries} times before this command could be written`,
    {
      history,
    },
  );

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
  readonly paces: Map<string, Pace>;
  readonly decided: Set<Task<C>>;
};

export const newPendingCommands = <C>(
  partition: number,
  { random, sleep, tries = 64, ahead = 256, overtaken = () => undefined }: WriterOptions<C>,
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

const paceOf = <C>({ paces }: PendingCommands<C>, history: string): Pace => paces.get(history) ?? AHEAD;

const setPace = <C>({ paces }: PendingCommands<C>, history: string, pace: Pace): void => {
  if (pace.pace === 'ahead') paces.delete(history);
  else paces.set(history, pace);
};

/** The histories whose waiting commands may be decided now. */
export const readyHistories = <C>(commands: PendingCommands<C>): readonly string[] =>
  [...commands.queues.keys()].filter((history) => paceOf(commands, history).pace !== 'backing off');

/** How many commands may be decided now. */
export const countReady = <C>(commands: PendingCommands<C>): number =>
  readyHistories(commands).reduce((sum, history) => sum + (commands.queues.get(history)?.length ?? 0), 0);

/** How many frames of a history the next batch may hold. */
export const limitOf = <C>(commands: PendingCommands<C>, history: string): number =>
  batchLimit(paceOf(commands, history), commands.ahead);

/** True if a command waits, or a pause is not over. */
export const areWaiting = <C>({ queues, paces }: PendingCommands<C>): boolean =>
  queues.size > 0 || [...paces.values()].some(({ pace }) => pace === 'backing off');

/** Answers a command whose frame is accepted. */
export const confirm = <C>(
  commands: PendingCommands<C>,
  { task, frame }: SentFrame<C>,
  { offset, next }: EntryOffset,
): void => {
  const { history, seq } = frame.envelope;
  const { partition } = commands;
  setPace(commands, history, paceAfterAccepted(paceOf(commands, history)));
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

/** Puts commands back whose frames were never sent, in the same order, to be decided again. */
export const putBack = <C>(commands: PendingCommands<C>, unsent: readonly SentFrame<C>[]): void => {
  // Those that were answered, or put back before, are not among the decided any more.
  for (const { task } of [...unsent].reverse())
    if (commands.decided.delete(task)) queueOf(commands, task.intent.history).unshift(task);
};

/** Puts commands back in the same order, to be decided again after a pause, because another writer was first. */
export const retry = <C>(
  commands: PendingCommands<C>,
  history: string,
  overtaken: readonly SentFrame<C>[],
): void => {
  commands.overtaken(overtaken.length);
  const retried: Task<C>[] = [];
  for (const { task } of overtaken) {
    commands.decided.delete(task);
    if (++task.tries < commands.tries) retried.push(task);
    else task.reject(conflict(history, task.tries));
  }
  queueOf(commands, history).unshift(...retried);
  setPace(commands, history, paceAfterConflict());
  const pause = backOff(overtaken[0]?.task.tries ?? 1, retryBackOff(commands.random));
  void commands.sleep(pause).then(() => {
    setPace(commands, history, paceAfterPause());
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

/** The error for a command when the log does not say whether it was accepted. */
export const outcomeUnknown = <C>({ id, history }: Intent<C>, cause: unknown): Error =>
  new StemmaError(
    'E_OUTCOME_UNKNOWN',
    `the log does not tell what became of the command ${id}${isStemmaError(cause) ? `: ${cause.message}` : ''}`,
    { history, command: id },
    { cause },
  );
