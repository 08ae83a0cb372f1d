import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { repeat } from '../measure.ts';
import { openEmmett } from '../peers/emmett.ts';
import { appending, repetitions, type AppendInput, type Appending } from './figures.ts';
import { asMessage } from './messages.ts';
import { insertion } from './records.ts';

/** Events in one stream before the next one is begun. */
const STREAM = 10_000;

/** Appends to emmett's SQLite store: one call, and so one transaction, a group. */
export const appendToEmmett = async (input: AppendInput): Promise<Appending> => {
  mkdirSync(input.directory, { recursive: true });
  const store = openEmmett(join(input.directory, 'events.db'));
  const messages = Array.from({ length: input.group }, (_, number) => asMessage(insertion(number)));
  await store.appendToStream('agent-warm', messages);
  const series = await repeat(repetitions(input), async (repetition) => {
    await store.appendToStream(`agent-${Math.floor((repetition * input.group) / STREAM)}`, messages);
  });
  return appending(series, input.group);
};
