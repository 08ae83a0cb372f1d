import { fail, isStemmaError } from '@stemma/errors';
import { FRAME_VERSION } from '@stemma/events';
import { commandDigest, type Command } from '@stemma/history';
import { boundsOf, partitionOf } from '@stemma/log';
import { findAct } from '@stemma/read-models';
import type { Outcome } from './home.ts';
import type { Parts } from './parts.ts';
import { positionIn } from './read.ts';

const checkId = (text: string, what: string): void => {
  const most = boundsOf(FRAME_VERSION).id;
  if (text === '' || Buffer.byteLength(text) > most)
    throw fail('E_COMMAND_INVALID', `${what} has 1 to ${most} bytes of UTF-8`);
};

/**
 * Does a command, once. The answer needs no rows that are not there yet: it is told from the frame, and of a command that was
 * taken before, from what the writer or the rows have of it already.
 */
export const submit = async (parts: Parts, command: Command): Promise<Outcome> => {
  const { writer, background, positions } = parts;
  const { id, history, by } = command;
  checkId(id, 'the id of a command');
  // An actor's name is checked with what the actor does.
  if ('recorder' in by) checkId(by.recorder, 'the name of a recorder');
  const accepted = await writer.write({ id, digest: commandDigest(command), history, command });
  const { seq, frame, repeated } = accepted;
  if (!repeated) background.wake();
  const position = frame && positions.get(frame);
  if (!frame || !position) return { ...(await inRows(parts, history, seq)), repeated };
  const { lineage: strand, events } = frame.body;
  return { history, strand, seq, events, position, repeated };
};

/** What the rows say of a frame: as they are, and if they do not have it yet, when they do. */
const inRows = async (parts: Parts, history: string, seq: number): Promise<Omit<Outcome, 'repeated'>> => {
  const { log, projector } = parts;
  const look = async (): Promise<Omit<Outcome, 'repeated'>> => {
    const position = await projector.read((view) =>
      positionIn(view, history, findAct(view, history, seq).strand, seq),
    );
    const { strand } = position;
    return { history, strand, seq, events: await projector.payloads.events(history, seq), position };
  };
  try {
    return await look();
  } catch (error) {
    if (!isStemmaError(error, 'E_SNAPSHOT_NOT_FOUND')) throw error;
    await projector.catchUp(partitionOf(history, log.partitions));
    return look();
  }
};
