import type { Frame } from '@stemma/events';
import { checkpointAtStart, readFrame, readPartition, type HeadState } from '@stemma/log';
import { openEmbeddedLog } from '@stemma/log-embedded';
import { join } from 'node:path';
import type { Replayed } from './rebuild.ts';

const noContents = {
  get: (): never => {
    throw new Error('the sessions have no contents of their own');
  },
};

/** Every accepted frame of a home's log, checked, in the order of the log; those of the histories that are wanted, decoded. */
export async function* decodeLog(
  directory: string,
  isWanted: (history: string) => boolean = () => true,
): AsyncGenerator<Frame> {
  const log = await openEmbeddedLog({ directory: join(directory, 'home', 'log') });
  try {
    for (let partition = 0; partition < log.partitions; partition += 1) {
      const known = new Map<string, HeadState>();
      const batches = readPartition(log, {
        checkpoint: await checkpointAtStart(log, partition),
        heads: { load: () => known },
      });
      for await (const { accepted, heads } of batches) {
        for (const [history, head] of heads) known.set(history, head);
        for (const frame of accepted) {
          if (frame.control || !isWanted(frame.envelope.history)) continue;
          yield await readFrame(frame, noContents);
        }
      }
    }
  } finally {
    await log.close();
  }
}

/** Reads the whole log, checks every record and decodes every event, and does nothing with them. */
export const decodeAlone = async (input: { readonly directory: string }): Promise<Replayed> => {
  const started = performance.now();
  let events = 0;
  for await (const frame of decodeLog(input.directory)) events += frame.body.events.length;
  return { events, seconds: (performance.now() - started) / 1_000 };
};
