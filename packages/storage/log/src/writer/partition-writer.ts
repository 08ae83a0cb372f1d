import { backOff, fail, isStemmaError } from '@stemma/errors';
import { raiseVersion } from '../control.ts';
import type { Opened } from '../cursor.ts';
import { partitionOf } from '../partition-of.ts';
import type { EntryOffset, EventLog } from '../port.ts';
import { HASH_BYTES } from '../record.ts';
import { openOrCatchUp, readOn, takeIn, tryReadingOn, type OpenPartition } from './open-partition.ts';
import * as pending from './pending-commands.ts';
import { prepare, takeBack, type Prepared } from './sessions.ts';
import type { Accepted, Intent, SentFrame, Task, Writer, WriterOptions } from './types.ts';

/*
 * A writer of one partition is in one of these states; `step` does what the state says and gives the next one.
 *
 *   state          what it does                                           next
 *   unopened       opens a reader at the checkpoint of the rows, reads    deciding
 *                  to the end of the log
 *   idle           reads on if a connection was made anew; opens another  deciding
 *                  reader if damage closed the partition
 *   deciding       decides and encodes the waiting commands as a batch    sending; idle, if there is no frame
 *   sending        appends the frames that have no outcome, and decides   ended, if none was left or none was written;
 *                  the next ones while these are on their way             resolving, if the answer says it all;
 *                                                                         reading back, otherwise
 *   reading back   reads to the end of the log                            resolving
 *   resolving      gives up at the deadline and where damage stops the    ended, if every frame has its outcome;
 *                  history; pauses                                        sending, for the others
 *   ended          puts commands back that were decided on what was       sending, if frames were decided meanwhile;
 *                  given up                                               idle, otherwise
 *
 * It leaves `unopened` and `idle` only when a command waits. After an error in any state the next one is `unopened`:
 * nothing that was known counts any more, commands that wait are rejected with the error, and those that were decided
 * with E_OUTCOME_UNKNOWN. How many frames of one history a batch may hold, after a conflict, is a state of that history:
 * see pending-commands.ts.
 */
type State<C> =
  | { readonly state: 'unopened' }
  | { readonly state: 'idle' | 'deciding' | 'ended'; readonly at: OpenPartition<C> }
  | {
      readonly state: 'sending' | 'reading back' | 'resolving';
      readonly at: OpenPartition<C>;
      readonly batch: Batch<C>;
    };

/** Frames that were decided, some without an outcome yet. */
type Batch<C> = {
  readonly frames: readonly SentFrame<C>[];
  /** How often the batch was sent to the log. */
  readonly attempts: number;
  /** When the writer reports an unknown outcome, by its own clock. */
  readonly deadline: number;
};

type PartitionWriter<C> = {
  readonly log: EventLog;
  readonly options: WriterOptions<C>;
  readonly commands: pending.PendingCommands<C>;
  state: State<C>;
  /** Frames that were decided on those of a batch without an outcome. None of them was sent. */
  ahead: SentFrame<C>[];
  running: Promise<void> | undefined;
};

const MAX_BATCH_BYTES = 8 * 1024 * 1024;

/**
 * The writer for every log (record §3): it decides, appends, finds the outcome, and then decides again or reports a
 * conflict.
 */
export const openWriter = <C>(log: EventLog, options: WriterOptions<C>): Writer<C> => {
  const writers = new Map<number, PartitionWriter<C>>();
  let closed = false;
  const writerOf = (partition: number): PartitionWriter<C> => {
    const writer = writers.get(partition) ?? newPartitionWriter(log, partition, options);
    writers.set(partition, writer);
    return writer;
  };
  return {
    write: (intent: Intent<C>) =>
      new Promise<Accepted>((resolve, reject) => {
        if (closed) {
          reject(fail('E_LOG_CLOSED', 'the writer was closed'));
          return;
        }
        const writer = writerOf(partitionOf(intent.history, log.partitions));
        pending.queueOf(writer.commands, intent.history).push({ intent, resolve, reject, tries: 0 });
        start(writer);
      }),
    close: async () => {
      closed = true;
      for (const writer of writers.values())
        while (writer.running || pending.areWaiting(writer.commands))
          await (writer.running ?? options.sleep(1));
    },
  };
};

const newPartitionWriter = <C>(
  log: EventLog,
  partition: number,
  options: WriterOptions<C>,
): PartitionWriter<C> => {
  const commands = pending.newPendingCommands(partition, options, () => {
    start(writer);
  });
  const writer: PartitionWriter<C> = {
    log,
    options,
    commands,
    state: { state: 'unopened' },
    ahead: [],
    running: undefined,
  };
  return writer;
};

const start = <C>(writer: PartitionWriter<C>): void => {
  if (pending.readyHistories(writer.commands).length === 0) return;
  writer.running ??= run(writer).finally(() => {
    writer.running = undefined;
    start(writer);
  });
};

const run = async <C>(writer: PartitionWriter<C>): Promise<void> => {
  // Commands written in the same turn of the event loop go into the same batch.
  await Promise.resolve();
  while (!isAtRest(writer.state) || pending.readyHistories(writer.commands).length > 0) {
    try {
      writer.state = await step(writer, writer.state);
    } catch (error) {
      pending.rejectAll(writer.commands, error);
      writer.ahead = [];
      writer.state = { state: 'unopened' };
    }
  }
};

const isAtRest = <C>({ state }: State<C>): boolean => state === 'unopened' || state === 'idle';

const step = async <C>(writer: PartitionWriter<C>, now: State<C>): Promise<State<C>> => {
  const { log, commands, options } = writer;
  switch (now.state) {
    case 'unopened':
      return { state: 'deciding', at: await openOrCatchUp(log, commands, options, null) };
    case 'idle':
      return { state: 'deciding', at: await openOrCatchUp(log, commands, options, now.at) };
    case 'deciding':
      return decide(writer, now.at);
    case 'sending':
      return send(writer, now.at, now.batch);
    case 'reading back':
      await tryReadingOn(now.at);
      return { ...now, state: 'resolving' };
    case 'resolving':
      return resolveOutcomes(writer, now.at, now.batch);
    case 'ended':
      return sendAhead(writer, now.at);
  }
};

/** One batch of the waiting commands, or of half of them if they are many. */
const decide = async <C>(writer: PartitionWriter<C>, at: OpenPartition<C>): Promise<State<C>> => {
  const waiting = pending.countReady(writer.commands);
  const frames: SentFrame<C>[] = [];
  await decideSome(writer, at, frames, Math.max(writer.options.whole ?? 16, Math.ceil(waiting / 2)), 1);
  return frames.length === 0 ? { state: 'idle', at } : sending(writer, at, frames);
};

const sending = <C>(
  { options }: PartitionWriter<C>,
  at: OpenPartition<C>,
  frames: readonly SentFrame<C>[],
): State<C> => {
  const deadline = options.now() + (options.deadline ?? 30_000);
  return { state: 'sending', at, batch: { frames, attempts: 0, deadline } };
};

/**
 * Decides waiting commands until there are so many frames; each history's in the order of its commands.
 *
 * @param least the fewest frames that a history may hold in a batch, for its commands to be decided now
 */
const decideSome = async <C>(
  { commands, options }: PartitionWriter<C>,
  at: OpenPartition<C>,
  frames: SentFrame<C>[],
  most: number,
  least: number,
): Promise<void> => {
  let bytes = 0;
  for (const history of pending.readyHistories(commands)) {
    const queue = pending.queueOf(commands, history);
    const limit = pending.limitOf(commands, history);
    const isFull = (sent: number): boolean =>
      sent >= limit || frames.length >= Math.min(most, commands.ahead) || bytes >= MAX_BATCH_BYTES;
    for (let sent = 0; limit >= least && queue.length > 0 && !isFull(sent);) {
      const task = queue[0] as Task<C>;
      const prepared = await prepareAtEnd(at, task, options);
      if (prepared.kind === 'later') break;
      queue.shift();
      if (prepared.kind === 'refused') task.reject(prepared.error);
      else if (prepared.kind === 'repeated') pending.answerRepeated(commands, task, prepared);
      else {
        at.sessions.get(history)?.sent.push(prepared.sent);
        commands.decided.add(task);
        frames.push(prepared.sent);
        bytes += prepared.sent.record.length;
        sent++;
      }
    }
    pending.forgetEmptyQueue(commands, history);
  }
};

/** Sends what was decided while the batch before was on its way, as far as it still counts. */
const sendAhead = <C>(writer: PartitionWriter<C>, at: OpenPartition<C>): State<C> => {
  const { commands, ahead } = writer;
  writer.ahead = [];
  const isClosed = at.reader.closed() !== null;
  const frames = ahead.filter((sent) => !isClosed && isUnderWay(at, sent));
  pending.putBack(
    commands,
    ahead.filter((sent) => !frames.includes(sent)),
  );
  return frames.length === 0 ? { state: 'idle', at } : sending(writer, at, frames);
};

/**
 * Like {@link prepare}, but refuses a command only at the end of the log: a refusal may rest on a state that others
 * have changed.
 */
const prepareAtEnd = async <C>(
  at: OpenPartition<C>,
  task: Task<C>,
  options: WriterOptions<C>,
): Promise<Prepared<C>> => {
  const { history } = task.intent;
  for (;;) {
    const prepared = await at.sessions.load(history).then(
      (session) => prepare(session, task, options),
      (error: unknown) => ({ kind: 'refused', error }) as const,
    );
    at.sessions.used(history);
    if (prepared.kind !== 'refused') return prepared;
    const moved = await readOn(at);
    // The records just read may have put back commands that were sent before this one.
    if (at.commands.queues.get(history)?.[0] !== task) return { kind: 'later' };
    if (!moved) return prepared;
  }
};

const send = async <C>(
  writer: PartitionWriter<C>,
  at: OpenPartition<C>,
  batch: Batch<C>,
): Promise<State<C>> => {
  const { log, commands } = writer;
  const raised = await outcomeOf(raiseFor(log, at, batch));
  const open = withoutOutcome(at, batch);
  if ('error' in raised) {
    if (batch.attempts > 0) throw raised.error;
    await rejectUnwritten(at, open, raised.error);
    return { state: 'ended', at };
  }
  if (open.length === 0) return { state: 'ended', at };
  const sent: Batch<C> = { ...batch, attempts: batch.attempts + 1 };
  const entries = open.map(({ frame, record }) => ({ key: frame.envelope.history, bytes: record }));
  const appending = outcomeOf(log.append(commands.partition, entries));
  const decided = await outcomeOf(decideAhead(writer, at));
  const appended = await appending;
  if ('error' in appended) {
    const { error } = appended;
    const unwritten = batch.attempts === 0 && wroteNothing(error);
    if (unwritten) await rejectUnwritten(at, open, error);
    if ('error' in decided) throw decided.error;
    // Reading back may find the frames all the same; but nobody could read them in the end.
    if (isStemmaError(error, 'E_LOG_MISMATCH')) throw error;
    // After a repeated send the error shows too little: the first send may be in the log.
    return unwritten ? { state: 'ended', at } : { state: 'reading back', at, batch: sent };
  }
  const placed = appended.value;
  const { reader } = at;
  const isKnown =
    log.keepsItsEnd && reader.holds() && followsDirectly(placed, reader.checkpoint().cursor.offset);
  if (isKnown) {
    const asWritten = placed.map((each, i) => asRead(open[i] as SentFrame<C>, each));
    await takeIn(at, await reader.checkOpened(asWritten));
  }
  if ('error' in decided) throw decided.error;
  return { state: isKnown ? 'resolving' : 'reading back', at, batch: sent };
};

/** Frames of a later version are only where the log says that they may be. */
const raiseFor = async <C>(log: EventLog, at: OpenPartition<C>, { frames }: Batch<C>): Promise<void> => {
  const { reader } = at;
  const version = Math.max(...frames.map(({ frame }) => frame.envelope.v));
  const [first] = frames;
  if (first === undefined || version <= reader.checkpoint().state.format) return;
  await raiseVersion(log, reader.checkpoint(), reader.controlHeads, { version, at: first.frame.body.at });
  await readOn(at);
};

type Outcome<T> = { readonly value: T } | { readonly error: unknown };

const outcomeOf = <T>(promise: Promise<T>): Promise<Outcome<T>> =>
  promise.then(
    (value) => ({ value }),
    (error: unknown) => ({ error }),
  );

/** Decides commands on frames that are on their way, of histories to which nobody else writes. */
const decideAhead = <C>(writer: PartitionWriter<C>, at: OpenPartition<C>): Promise<void> =>
  decideSome(writer, at, writer.ahead, Infinity, 2);

/** The frames without an outcome. A frame has one when it is accepted, or another has its `seq` (record §3). */
const withoutOutcome = <C>(at: OpenPartition<C>, { frames }: Batch<C>): readonly SentFrame<C>[] =>
  frames.filter((sent) => isUnderWay(at, sent));

const isUnderWay = <C>({ sessions }: OpenPartition<C>, sent: SentFrame<C>): boolean =>
  sessions.get(sent.frame.envelope.history)?.sent.includes(sent) === true;

/** True if the records follow each other without a gap from `from`: no other writer's record is between them. */
const followsDirectly = (placed: readonly EntryOffset[], from: number): boolean =>
  placed.every(({ offset }, i) => offset === (i === 0 ? from : placed[i - 1]?.next));

/** A record of this writer as a reader would get and open it. */
const asRead = <C>(
  { frame: { envelope }, hash, record, bodyAt }: SentFrame<C>,
  { offset, next }: EntryOffset,
): Opened => ({
  record: { offset, next, key: envelope.history, bytes: record, keyVouched: true, damaged: false },
  open: { frame: record.subarray(0, record.length - HASH_BYTES), hash, envelope, bodyAt },
});

/** True if a failed append with this error has written nothing. */
const wroteNothing = (error: unknown): boolean =>
  isStemmaError(error) &&
  (error.code === 'E_LOG_BUSY' || error.code === 'E_LOG_CLOSED' || error.detail['written'] === false);

const rejectUnwritten = async <C>(
  { sessions, commands }: OpenPartition<C>,
  open: readonly SentFrame<C>[],
  error: unknown,
): Promise<void> => {
  for (const history of new Set(open.map(({ frame }) => frame.envelope.history))) {
    const session = sessions.get(history);
    for (const { task } of session ? await takeBack(session) : [])
      pending.rejectDecided(commands, task, error);
  }
};

const resolveOutcomes = async <C>(
  { options }: PartitionWriter<C>,
  at: OpenPartition<C>,
  batch: Batch<C>,
): Promise<State<C>> => {
  const open = withoutOutcome(at, batch);
  if (open.length === 0) return { state: 'ended', at };
  if (options.now() >= batch.deadline || at.reader.closed() !== null) {
    giveUp(at, open);
    return { state: 'ended', at };
  }
  const stopped = open.filter(({ frame }) => at.reader.head(frame.envelope.history)?.state === 'damaged');
  giveUp(at, stopped);
  if (stopped.length < open.length)
    await options.sleep(backOff(batch.attempts, pending.retryBackOff(options.random)));
  return { state: 'sending', at, batch };
};

const giveUp = <C>({ sessions, commands }: OpenPartition<C>, open: readonly SentFrame<C>[]): void => {
  for (const { task, frame } of open) {
    sessions.evict(frame.envelope.history);
    pending.rejectDecided(commands, task, pending.outcomeUnknown(task.intent, undefined));
  }
};
