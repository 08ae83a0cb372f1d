import type { ContentStore } from '@stemma/contents';
import { fail, isStemmaError } from '@stemma/errors';
import { FRAME_VERSION, type Frame } from '@stemma/events';
import { commandDigest, type Command } from '@stemma/history';
import { positionIn, type Position } from '@stemma/history-store';
import { boundsOf, openWriter, partitionOf, type EventLog } from '@stemma/log';
import type { ServedRows } from '@stemma/projector';
import { findAct } from '@stemma/read-models';
import { setTimeout as sleep } from 'node:timers/promises';
import { rowsDomain } from './domain.ts';
import { observedWriter, type Observe } from './observe.ts';
import type { Outcome } from './outcome.ts';

/** The one way from a command to an acknowledged frame. */
export type CommandHandler = {
  /**
   * Decides a command, appends its frame, and answers when the frame is accepted. A repeated command gets the same answer.
   *
   * @throws coded errors of the decision, E_CONFLICT, E_OUTCOME_UNKNOWN, E_COMMAND_INVALID
   */
  submit(command: Command): Promise<Outcome>;
  /** Resolves when everything submitted before has its outcome; later commands are refused. */
  close(): Promise<void>;
};

export type CommandHandlerOptions = {
  readonly log: EventLog;
  readonly contents: ContentStore;
  readonly rows: ServedRows;
  /** Nanoseconds since 1970. */
  readonly clock: () => bigint;
  /** Called when a new frame was accepted. */
  readonly accepted: () => void;
  readonly observe?: Observe;
};

export const openCommandHandler = ({
  log,
  contents,
  rows,
  clock,
  accepted,
  observe,
}: CommandHandlerOptions): CommandHandler => {
  /** The position of a frame that the writer took in, as far as its session could tell. */
  const positions = new WeakMap<Frame, Position>();
  const plain = openWriter(log, {
    domain: rowsDomain(log, rows, clock, (frame, position) => positions.set(frame, position)),
    contents,
    random: Math.random,
    sleep: (milliseconds) => sleep(milliseconds),
    now: () => performance.now(),
    ...(observe && { overtaken: observe.overtaken }),
  });
  const writer = observedWriter(plain, observe);
  return {
    submit: async (command) => {
      const { id, history, by } = command;
      checkId(id, 'the id of a command');
      // An actor's name is checked with what the actor does.
      if ('recorder' in by) checkId(by.recorder, 'the name of a recorder');
      const { seq, frame, repeated } = await writer.write({
        id,
        digest: commandDigest(command),
        history,
        command,
      });
      if (!repeated) accepted();
      const position = frame && positions.get(frame);
      if (!frame || !position) return { ...(await outcomeInRows(log, rows, history, seq)), repeated };
      const { lineage: strand, events } = frame.body;
      return { history, strand, seq, events, position, repeated };
    },
    close: () => writer.close(),
  };
};

const checkId = (text: string, what: string): void => {
  const most = boundsOf(FRAME_VERSION).id;
  if (text === '' || Buffer.byteLength(text) > most)
    throw fail('E_COMMAND_INVALID', `${what} has 1 to ${most} bytes of UTF-8`);
};

/** What the rows say of a frame: as they are, and if they do not have it yet, when they do. */
const outcomeInRows = async (
  log: EventLog,
  rows: ServedRows,
  history: string,
  seq: number,
): Promise<Omit<Outcome, 'repeated'>> => {
  const look = async (): Promise<Omit<Outcome, 'repeated'>> => {
    const position = await rows.read((view) =>
      positionIn(view, history, findAct(view, history, seq).strand, seq),
    );
    const { strand } = position;
    return { history, strand, seq, events: await rows.payloads.events(history, seq), position };
  };
  try {
    return await look();
  } catch (error) {
    if (!isStemmaError(error, 'E_SNAPSHOT_NOT_FOUND')) throw error;
    await rows.catchUp(partitionOf(history, log.partitions));
    return look();
  }
};
