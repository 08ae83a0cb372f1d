import { mkdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { asMessage } from '../append/messages.ts';
import { isCrossing, openEmmett, rebuildEmmett } from '../peers/emmett.ts';
import { same, small } from '../peers/emmett-rows.ts';
import { decodeLog } from './decode.ts';
import type { Replayed } from './rebuild.ts';

/** Copies the first events of the log into emmett, a stream a history; gives how many there are. */
const copy = async (log: string, file: string, atLeast: number): Promise<number> => {
  const store = openEmmett(file);
  let copied = 0;
  for await (const { envelope, body } of decodeLog(log)) {
    if (copied >= atLeast) break;
    await store.appendToStream(envelope.history, body.events.map(asMessage));
    copied += body.events.length;
  }
  return copied;
};

/** Rebuilds a projection of the first events of the log in emmett, from anew where one of its commits was refused. */
export const replayEmmett = async (input: {
  readonly log: string;
  readonly directory: string;
  readonly events: number;
  /** One row an event, or as many as ours. */
  readonly rows: 'small' | 'same';
}): Promise<Replayed> => {
  const file = join(input.directory, 'events.db');
  for (let tries = 1; tries <= 5; tries += 1) {
    rmSync(input.directory, { recursive: true, force: true });
    mkdirSync(input.directory, { recursive: true });
    try {
      const events = await copy(input.log, file, input.events);
      const ms = await rebuildEmmett(file, events, input.rows === 'small' ? small : same);
      if (ms !== undefined) return { events, seconds: ms / 1_000 };
    } catch (error) {
      if (!isCrossing(error)) throw error;
    }
  }
  throw new Error('emmett did not get through: the machine is too busy');
};
