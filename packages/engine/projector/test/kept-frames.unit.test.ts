import { openMemoryRowStore } from '@stemma/row-store';
import { allRows, logged, someRecorded } from '@stemma/test-kit';
import { expect, it } from 'vitest';
import { openProjector, verifyReplay } from '../src/index.ts';

it(
  'with frames kept among the rows, the log is read once, in order, and events come from the rows; the other rows are the same',
  { tags: ['snapshots:frame-port'] },
  async () => {
    const recorded = someRecorded(3);
    const { log, contents } = await logged(recorded);
    const reads: number[] = [];
    const far = {
      ...log,
      read: (...args: Parameters<typeof log.read>) => {
        reads.push(args[1]);
        return log.read(...args);
      },
    };
    const open = (keepFrames: boolean) =>
      openProjector({ eager: 'all', log: far, contents, store: openMemoryRowStore(), keepFrames });
    const [kept, plain] = [open(true), open(false)];
    await plain.catchUp();
    reads.length = 0;
    await kept.catchUp();
    const once = reads.length;
    for (const [history, { frames }] of recorded.histories)
      for (const { envelope, body } of frames)
        expect(await kept.payloads.events(history, envelope.seq)).toEqual(body.events);
    expect(reads.length).toBe(once);
    expect(reads).toEqual(reads.toSorted((a, b) => a - b));

    const { frame_bytes, ...rows } = await allRows(await kept.generation());
    expect(frame_bytes?.length).toBe(recorded.entries.length);
    expect(rows).toEqual(await allRows(await plain.generation()));
    const report = await verifyReplay(kept, { scratch: () => openMemoryRowStore(), batchSizes: [1, 7] });
    expect(report).toMatchObject({ differences: 0 });
  },
);
