import { ownCopy } from '@stemma/canonical';
import type { ContentStore } from '@stemma/contents';
import { fail, isStemmaError } from '@stemma/errors';
import { FRAME_VERSION, type Frame } from '@stemma/events';
import { commandDigest, type Command } from '@stemma/history';
import { positionOfFrame, type Position } from '@stemma/history-store';
import {
  boundsOf,
  erasureIn,
  openWriter,
  partitionOf,
  type EventLog,
  type Intent,
  type Writer,
  type WriterOptions,
} from '@stemma/log';
import type { Progress, Projection } from '@stemma/projector';
import { findFrameSummary } from '@stemma/read-models';
import type { Redactor } from '@stemma/redaction';
import { inOrder } from '@stemma/values';
import { setTimeout as sleep } from 'node:timers/promises';
import { openRowsDomain } from './decision-sources.ts';
import { openKeyCheck, refuseErasable, type HistoryKeys } from './key-check.ts';
import type { Outcome } from './outcome.ts';

/** Callbacks of a home, for counters. They must not throw. */
export type HomeObserver = {
  /** A command's frame is in the log; `events` is 0 if it was there before. */
  readonly written: (answer: { readonly repeated: boolean; readonly events: number }) => void;
  readonly failed: (error: unknown) => void;
  /** The number of frames that were sent and lost to frames of another writer. */
  readonly overtaken: (frames: number) => void;
  /** Rows were committed. */
  readonly folded: (progress: Progress) => void;
  /** Rows were damaged; they are thrown away and built again. */
  readonly damaged: () => void;
};

/** The one way from a command to an acknowledged frame. */
export type CommandHandler = {
  /**
   * Decides a command, appends its frame, and answers when the frame is accepted. A repeated command gets the same
   * answer.
   *
   * @throws coded errors of the decision, E_CONFLICT, E_OUTCOME_UNKNOWN, E_COMMAND_INVALID, E_REDACTION_…
   */
  submit(command: Command): Promise<Outcome>;
  /** Resolves when every command submitted before has its outcome; refuses later ones. */
  close(): Promise<void>;
};

export type CommandHandlerOptions = {
  readonly log: EventLog;
  readonly contents: ContentStore;
  readonly rows: Projection;
  /** Nanoseconds since 1970. */
  readonly clock: () => bigint;
  /** Called after a new frame was accepted. */
  readonly accepted: () => void;
  readonly observe?: HomeObserver;
  /** Takes secrets out of every command before anything else sees it. */
  readonly redactor?: Redactor;
  /** The keys of erasable histories; without them none can be started. */
  readonly keys?: HistoryKeys;
  /** Resolves when nothing of an erased history is in any rows. Default: when `rows` have its last frame. */
  readonly forgotten?: () => Promise<void>;
  /** Is given the frames as they are decoded. */
  readonly decoded?: WriterOptions<Command>['decoded'];
  /** The clock of deadlines and pauses, and their jitter. Default: this machine's. */
  readonly timers?: Pick<WriterOptions<Command>, 'random' | 'sleep' | 'now'>;
};

const TIMERS = {
  random: Math.random,
  sleep: (milliseconds: number): Promise<void> => sleep(milliseconds),
  now: (): number => performance.now(),
};

export const openCommandHandler = ({
  log,
  contents,
  rows,
  clock,
  accepted,
  observe,
  redactor,
  keys,
  forgotten,
  decoded,
  timers = TIMERS,
}: CommandHandlerOptions): CommandHandler => {
  /** The positions of accepted frames, as far as the session knew them. */
  const positions = new WeakMap<Frame, Position>();
  const plain = openWriter(log, {
    domain: openRowsDomain(log, rows, clock, (frame, position) => positions.set(frame, position)),
    contents,
    ...timers,
    ...(decoded && { decoded }),
    ...(observe && { overtaken: observe.overtaken }),
  });
  const writer = withObserver(plain, observe);
  const prepared = inOrder<Command>();
  const requireKey = keys === undefined ? refuseErasable : openKeyCheck(keys, rows);
  const prepare = async (given: Command): Promise<Command> => {
    const command = redactor === undefined ? given : await redactor.command(given);
    await requireKey(command);
    return command;
  };
  return {
    submit: async (given) => {
      // What is decided holds parts of the command for as long as the history is known.
      const command = await prepared(prepare(ownCopy(given)));
      const { id, history, by } = command;
      checkId(id, 'the id of a command');
      // The decision checks an actor's name, together with the intervention.
      if ('recorder' in by) checkId(by.recorder, 'the name of a recorder');
      const written = { id, digest: commandDigest(command), history, command };
      const { seq, frame, repeated } = await writer.write(written);
      if (!repeated) accepted();
      const erasure = frame === null ? undefined : erasureIn(frame.body);
      const position = frame && positions.get(frame);
      const outcome =
        frame && position
          ? { history, branchId: frame.body.branchId, seq, events: frame.body.events, position, repeated }
          : { ...(await readOutcome(log, rows, history, seq)), repeated };
      if (erasure !== undefined) {
        keys?.destroy(history, erasure);
        // The rows begin anew, so that nothing of it is left when the command is answered.
        await (forgotten?.() ?? rows.catchUp(partitionOf(history, log.partitions)));
      }
      return outcome;
    },
    close: () => writer.close(),
  };
};

/** The same writer, which calls the observer with the outcome of each command. */
const withObserver = <C>(writer: Writer<C>, observe: HomeObserver | undefined): Writer<C> =>
  observe === undefined
    ? writer
    : {
        ...writer,
        write: async (intent: Intent<C>) => {
          try {
            const accepted = await writer.write(intent);
            const { repeated, frame } = accepted;
            observe.written({ repeated, events: repeated ? 0 : (frame?.body.events.length ?? 0) });
            return accepted;
          } catch (error) {
            observe.failed(error);
            throw error;
          }
        },
      };

const checkId = (text: string, what: string): void => {
  const maxBytes = boundsOf(FRAME_VERSION).id;
  if (text === '' || Buffer.byteLength(text) > maxBytes)
    throw fail('E_COMMAND_INVALID', `${what} has 1 to ${maxBytes} bytes of UTF-8`);
};

/** The outcome of a frame, read from the rows; waits until they have the frame. */
const readOutcome = async (
  log: EventLog,
  rows: Projection,
  history: string,
  seq: number,
): Promise<Omit<Outcome, 'repeated'>> => {
  const readOnce = async (): Promise<Omit<Outcome, 'repeated'>> => {
    const position = await rows.read((view) =>
      positionOfFrame(view, history, findFrameSummary(view, history, seq).branchId, seq),
    );
    const { branchId } = position;
    return { history, branchId, seq, events: await rows.payloads.events(history, seq), position };
  };
  try {
    return await readOnce();
  } catch (error) {
    if (!isStemmaError(error, 'E_SNAPSHOT_NOT_FOUND')) throw error;
    await rows.catchUp(partitionOf(history, log.partitions));
    return readOnce();
  }
};
