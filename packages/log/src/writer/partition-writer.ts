import { fail, isStemmaError } from '@stemma/errors';
import { FRAME_VERSION } from '@stemma/events';
import type { EventLog, LogRecord, Placed } from '../port.ts';
import { takeBack, takeIn, wroteNothing, type Sent, type Task } from './line.ts';
import { openLines, type Lines } from './lines.ts';
import { prepare, type Prepared } from './prepare.ts';
import { openTail, type Tail } from './tail.ts';
import type { WriterOptions } from './types.ts';
import { asRead, follows, unknown } from './sending.ts';

/** One partition of a writer: takes commands, gives each its outcome. */
export type Lane<C> = {
  readonly push: (task: Task<C>) => void;
  /** Resolves when nothing is on its way. */
  readonly idle: () => Promise<void>;
};

type Place<C> = { readonly tail: Tail; readonly lines: Lines<C> };

const MAX_BATCH_BYTES = 8 * 1024 * 1024;
/** After a conflict a history sends one frame at a time until so many in a row were accepted. */
const QUIET = 4;

export const openLane = <C>(log: EventLog, partition: number, options: WriterOptions<C>): Lane<C> => {
  const {
    contents,
    random,
    sleep,
    now,
    tries = 10,
    deadline = 30_000,
    ahead = 256,
    overtaken: tell,
  } = options;
  const queues = new Map<string, Task<C>[]>();
  const paused = new Set<string>();
  const careful = new Map<string, number>();
  let place: Place<C> | undefined;
  let running: Promise<void> | undefined;
  let sleeping = 0;
  /** Decided, and without an outcome. */
  const flying = new Set<Task<C>>();

  const push = (task: Task<C>): void => {
    queueOf(task.intent.history).push(task);
    kick();
  };
  const queueOf = (history: string): Task<C>[] => {
    const queue = queues.get(history) ?? [];
    queues.set(history, queue);
    return queue;
  };
  const kick = (): void => {
    running ??= work().finally(() => {
      running = undefined;
      if (ready().length > 0) kick();
    });
  };
  const ready = (): string[] => [...queues.keys()].filter((history) => !paused.has(history));

  const work = async (): Promise<void> => {
    // What is pushed in the same turn goes into the same batch.
    await Promise.resolve();
    while (ready().length > 0) {
      try {
        const at = await here();
        await settle(at, await fill(at));
      } catch (error) {
        // Nothing is known any more: begin anew from the rows.
        place = undefined;
        failAll(error);
      }
      flying.clear();
    }
  };
  const failAll = (error: unknown): void => {
    for (const history of ready()) {
      const queue = queues.get(history) ?? [];
      queues.delete(history);
      for (const task of queue) task.reject(error);
    }
    for (const task of flying) task.reject(unknown(task.intent, error));
  };

  const here = async (): Promise<Place<C>> => {
    if (place && !place.tail.closed()) {
      if (!place.tail.holds()) await readOn(place.tail, place.lines);
      return place;
    }
    const tail = await openTail(log, options.domain, partition);
    const lines: Lines<C> = openLines(log, tail, () => readOn(tail, lines), options);
    place = { tail, lines };
    await readOn(tail, lines);
    const closed = tail.closed();
    if (closed)
      throw fail(
        'E_PARTITION_CLOSED',
        `the damaged record ${partition}@${closed.offset} may be of any history`,
        {
          partition,
          offset: closed.offset,
        },
      );
    const { format } = tail.standing().state;
    if (FRAME_VERSION > format)
      throw fail(
        'E_VERSION_NEEDED',
        `partition ${partition} takes frames up to version ${format} until it is raised`,
      );
    return place;
  };

  /** Reads to the end, taking in what stands there. */
  const readOn = async (tail: Tail, lines: Lines<C>): Promise<void> => {
    for (;;) {
      const records = await tail.read();
      if (records.length === 0 || tail.closed()) return;
      await take(tail, lines, records);
    }
  };

  const take = async (tail: Tail, lines: Lines<C>, records: readonly LogRecord[]): Promise<void> => {
    const { accepted } = await tail.take(records);
    for (const frame of accepted) {
      const line = lines.known(frame.envelope.history);
      if (!line) continue;
      const { confirmed, overtaken } = await takeIn(line, frame, contents);
      if (confirmed) confirm(confirmed, frame);
      if (overtaken.length > 0) again(line.history, overtaken);
    }
  };

  const confirm = ({ task, frame }: Sent<C>, { offset, next }: Placed): void => {
    const { history, seq } = frame.envelope;
    const left = careful.get(history) ?? 0;
    if (left > 1) careful.set(history, left - 1);
    else careful.delete(history);
    flying.delete(task);
    task.resolve({ history, partition, seq, repeated: false, frame, offset, next });
  };

  /** Others were first: decide again, in the same order, after a moment. */
  const again = (history: string, overtaken: readonly Sent<C>[]): void => {
    careful.set(history, QUIET);
    tell?.(overtaken.length);
    const back: Task<C>[] = [];
    for (const { task } of overtaken) {
      flying.delete(task);
      if (++task.tries < tries) back.push(task);
      else
        task.reject(
          fail(
            'E_CONFLICT',
            `others wrote to the history ${history} ${task.tries} times before this command could`,
            {
              history,
            },
          ),
        );
    }
    queueOf(history).unshift(...back);
    pause(history, random() * 2 ** Math.min(overtaken[0]?.task.tries ?? 1, 7));
  };
  const pause = (history: string, milliseconds: number): void => {
    paused.add(history);
    sleeping++;
    void sleep(milliseconds).then(() => {
      sleeping--;
      paused.delete(history);
      if ((queues.get(history)?.length ?? 0) === 0) queues.delete(history);
      if (ready().length > 0) kick();
    });
  };

  /** Prepares what waits: an ordered batch, each history's frames in the order of their commands. */
  const fill = async (place: Place<C>): Promise<readonly Sent<C>[]> => {
    const batch: Sent<C>[] = [];
    let bytes = 0;
    for (const history of ready()) {
      const queue = queues.get(history) ?? [];
      const limit = careful.has(history) ? 1 : ahead;
      let sent = 0;
      while (queue.length > 0 && sent < limit && batch.length < ahead && bytes < MAX_BATCH_BYTES) {
        const task = queue[0] as Task<C>;
        const prepared = await at(place, task);
        if (prepared.kind === 'later') break;
        queue.shift();
        if (prepared.kind === 'refused') task.reject(prepared.error);
        else if (prepared.kind === 'repeated')
          task.resolve({
            history,
            partition,
            seq: prepared.seq,
            repeated: true,
            frame: prepared.frame,
            offset: null,
            next: null,
          });
        else {
          const line = place.lines.known(history);
          line?.sent.push(prepared.sent);
          batch.push(prepared.sent);
          flying.add(task);
          bytes += prepared.sent.record.length;
          sent++;
        }
      }
      if (queue.length === 0) queues.delete(history);
    }
    return batch;
  };
  /** A refusal may rest on a past that others have left behind: it counts only at the log's end. */
  const at = async ({ tail, lines }: Place<C>, task: Task<C>): Promise<Prepared<C>> => {
    for (;;) {
      const prepared = await tryPrepare(lines, task);
      if (prepared.kind !== 'refused') return prepared;
      const before = tail.standing().cursor.offset;
      await readOn(tail, lines);
      // What was read may have put back what was sent before it.
      if (queues.get(task.intent.history)?.[0] !== task) return { kind: 'later' };
      if (tail.standing().cursor.offset === before) return prepared;
    }
  };
  const tryPrepare = async (lines: Lines<C>, task: Task<C>): Promise<Prepared<C>> => {
    try {
      return await prepare(await lines.at(task.intent.history), task, contents);
    } catch (error) {
      return { kind: 'refused', error };
    }
  };

  /** Appends, and reads on until every frame is accepted or another stands in its place (record §3). */
  const settle = async ({ tail, lines }: Place<C>, batch: readonly Sent<C>[]): Promise<void> => {
    if (batch.length === 0) return;
    const until = now() + deadline;
    for (let sends = 0; ; sends++) {
      const open = batch.filter((sent) => lines.known(sent.frame.envelope.history)?.sent.includes(sent));
      if (open.length === 0) return;
      if (sends > 0) {
        const stopped = open.filter(({ frame }) => tail.head(frame.envelope.history)?.state === 'damaged');
        const over = now() >= until || tail.closed() !== null;
        giveUp(lines, over ? open : stopped);
        if (over) return;
        if (stopped.length > 0) continue;
        await sleep(random() * 2 ** Math.min(sends, 7));
      }
      const placed = await append(lines, open, sends === 0);
      if (placed === 'nothing written') return;
      if (placed && log.keepsItsEnd && tail.holds() && follows(placed, tail.standing().cursor.offset))
        await take(
          tail,
          lines,
          placed.map((each, i) => asRead(open[i] as Sent<C>, each)),
        );
      else await tryReading(tail, lines);
    }
  };

  const append = async (
    lines: Lines<C>,
    open: readonly Sent<C>[],
    first: boolean,
  ): Promise<readonly Placed[] | 'nothing written' | null> => {
    try {
      const entries = open.map(({ frame, record }) => ({ key: frame.envelope.history, bytes: record }));
      return await log.append(partition, entries);
    } catch (error) {
      if (!first || !wroteNothing(error)) return null;
      for (const history of new Set(open.map(({ frame }) => frame.envelope.history))) {
        const line = lines.known(history);
        for (const { task } of line ? await takeBack(line) : []) task.reject(error);
      }
      return 'nothing written';
    }
  };

  /** A log that cannot be read just now is asked again until the deadline. */
  const tryReading = async (tail: Tail, lines: Lines<C>): Promise<void> => {
    const before = tail.standing().cursor.offset;
    try {
      await readOn(tail, lines);
    } catch (error) {
      if (tail.standing().cursor.offset !== before || isStemmaError(error, 'E_CURSOR_LOST')) throw error;
    }
  };

  const giveUp = (lines: Lines<C>, open: readonly Sent<C>[]): void => {
    for (const { task, frame } of open) {
      lines.drop(frame.envelope.history);
      task.reject(unknown(task.intent, undefined));
    }
  };

  const idle = async (): Promise<void> => {
    while (running || queues.size > 0 || sleeping > 0) await (running ?? sleep(1));
  };
  return { push, idle };
};
