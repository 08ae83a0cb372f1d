import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { asMessage } from '../append/messages.ts';
import { openEmmett, rebuildEmmett } from '../peers/emmett.ts';
import { decodeLog } from './decode.ts';
import type { Replayed } from './rebuild.ts';

/** Copies the first events of the log into emmett, a stream a history, and rebuilds a projection of them. */
export const replayEmmett = async (input: {
  readonly log: string;
  readonly directory: string;
  readonly events: number;
}): Promise<Replayed & { readonly rows: number }> => {
  mkdirSync(input.directory, { recursive: true });
  const file = join(input.directory, 'events.db');
  const store = openEmmett(file);
  let copied = 0;
  for await (const { history, events } of decodeLog(input.log)) {
    if (copied >= input.events) break;
    await store.appendToStream(history, events.map(asMessage));
    copied += events.length;
  }
  const { ms, rows } = await rebuildEmmett(file, copied);
  return { events: copied, seconds: ms / 1_000, rows };
};
