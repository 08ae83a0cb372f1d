import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { isCrossing, openEmmett, type Message, type Store } from '../peers/emmett.ts';
import { measureAppends, type Appending, type AppendInput } from './figures.ts';
import { asMessage } from './messages.ts';
import { insertion } from './records.ts';

/** Events in one stream before the next one is begun. */
const STREAM = 10_000;

/** Appends a group, again where its own statements stood in its way; that costs it the time of both. */
const appendTo = async (store: Store, stream: string, messages: readonly Message[]): Promise<void> => {
  for (let tries = 1; ; tries += 1) {
    try {
      await store.appendToStream(stream, messages);
      return;
    } catch (error) {
      if (tries === 20 || !isCrossing(error)) throw error;
    }
  }
};

/** Appends to emmett's SQLite store: one call, and so one transaction, a group. */
export const appendToEmmett = async (input: AppendInput): Promise<Appending> => {
  mkdirSync(input.directory, { recursive: true });
  const store = openEmmett(join(input.directory, 'events.db'));
  const messages = Array.from({ length: input.group }, (_, number) => asMessage(insertion(number)));
  await appendTo(store, 'agent-warm', messages);
  return measureAppends(input, (before) =>
    appendTo(store, `agent-${Math.floor((before * input.group) / STREAM)}`, messages),
  );
};
