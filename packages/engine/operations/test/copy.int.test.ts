import { checkpointAtStart, readPartition, type HeadState } from '@stemma/log';
import { openEmbeddedLog } from '@stemma/log-embedded';
import { copyLog } from '@stemma/operations';
import { openHome, temporaryHome } from '@stemma/test-kit/home';
import { join } from 'node:path';
import { expect, it } from 'vitest';

/** The frames of each history, in hex and in their order; those of the log itself are its own. */
const framesIn = async (directory: string): Promise<Readonly<Record<string, readonly string[]>>> => {
  const log = await openEmbeddedLog({ directory: join(directory, 'log') });
  const frames: Record<string, string[]> = {};
  for (let partition = 0; partition < log.partitions; partition++) {
    const heads = new Map<string, HeadState>();
    const checkpoint = await checkpointAtStart(log, partition);
    for await (const batch of readPartition(log, { checkpoint, heads: { load: () => heads } })) {
      for (const [history, head] of batch.heads) heads.set(history, head);
      for (const { control, envelope, bytes } of batch.accepted)
        if (!control) (frames[envelope.history] ??= []).push(Buffer.from(bytes).toString('hex'));
    }
  }
  await log.close();
  return frames;
};

/** Starts a history with so many nodes, or goes on with it. */
const write = async (directory: string, history: string, nodes: readonly string[], isNew = true) => {
  const home = await openHome({ directory, create: isNew });
  const by = { recorder: 'r' };
  if (isNew)
    await home.submit({ id: 's', history, branchId: 0, by, steps: [{ op: 'start', name: history }] });
  for (const id of nodes) {
    const messages = [{ role: 'user', content: `${id} ${'x'.repeat(1_200_000)}` }];
    const facts = { api: 'openai.chat', model: 'm', parameters: {}, tools: null, request: null } as const;
    await home.calls.recordCall(await home.find(history), { id, by, messages, facts });
  }
  await home.close();
};

const copy = (from: string, to: string): ReturnType<typeof copyLog> =>
  copyLog({ from, to, directory: to, signal: AbortSignal.timeout(60_000) });

it(
  'a copy has the same frames, byte for byte; an interrupted one is continued, and one of another log is refused',
  { tags: ['record§5:copy'] },
  async () => {
    using from = temporaryHome();
    using to = temporaryHome();
    using other = temporaryHome();
    await write(from.directory, 'h1', ['c1', 'c2']);
    const first = await copy(from.directory, to.directory);
    expect([first.histories, first.before, first.damaged]).toEqual([1, 0, []]);
    // Large texts are contents, which are there before the frames that name them.
    expect(first.contents).toBeGreaterThan(0);
    expect(await framesIn(to.directory)).toEqual(await framesIn(from.directory));

    await write(from.directory, 'h1', ['c3'], false);
    const resumed = await copy(from.directory, to.directory);
    expect([resumed.before, resumed.frames > 0]).toEqual([first.frames, true]);
    const frames = await framesIn(from.directory);
    expect(await framesIn(to.directory)).toEqual(frames);
    expect(await copy(from.directory, to.directory)).toMatchObject({ frames: 0 });

    await write(other.directory, 'h2', ['c1']);
    await expect(copy(other.directory, to.directory)).rejects.toMatchObject({ code: 'E_LOG_NOT_EMPTY' });
    expect(await framesIn(to.directory)).toEqual(frames);
  },
);
