import { openEmbeddedLog } from '@stemma/log-embedded';
import { join } from 'node:path';
import { measureAppends, type Appending, type AppendInput } from './figures.ts';
import { records } from './records.ts';

/** Appends records that are made already to the embedded log: one durable append a group. */
export const appendToLog = async (input: AppendInput): Promise<Appending> => {
  const log = await openEmbeddedLog({ directory: join(input.directory, 'log') });
  // The log does not look into frames: the check of records, which would call the repeated ones stale, comes after it.
  const entries = records('bench', input.group);
  await log.append(0, entries);
  const measured = await measureAppends(input, () => log.append(0, entries));
  await log.close();
  return measured;
};
