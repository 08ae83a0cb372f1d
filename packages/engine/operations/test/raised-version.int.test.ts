import { checkpointAtStart, partitionOf, readFrame, readPartition, type HeadState } from '@stemma/log';
import { openEmbeddedLog } from '@stemma/log-embedded';
import { copyLog } from '@stemma/operations';
import { branchRefOf } from '@stemma/history-store';
import { openHome, temporaryHome } from '@stemma/test-kit/home';
import { join } from 'node:path';
import { expect, it } from 'vitest';

const HISTORY = 'h1';

/** The first event and the version of each frame in the partition of the history, in the order of the log. */
const framesOf = async (directory: string): Promise<readonly string[]> => {
  const log = await openEmbeddedLog({ directory: join(directory, 'log') });
  const partition = partitionOf(HISTORY, log.partitions);
  const contents = { get: () => Promise.reject(new Error('there are no contents')) };
  const found: string[] = [];
  const heads = new Map<string, HeadState>();
  const checkpoint = await checkpointAtStart(log, partition);
  for await (const batch of readPartition(log, { checkpoint, heads: { load: () => heads } })) {
    for (const [history, head] of batch.heads) heads.set(history, head);
    for (const accepted of batch.accepted) {
      const { envelope, body } = await readFrame(accepted, contents);
      found.push(`${body.events[0]?.type ?? ''} ${envelope.v}`);
    }
  }
  await log.close();
  return found;
};

it(
  'frames of a later version follow the event that allows them, in a log and in its copy; frames without such events keep their version',
  { tags: ['record§2:control-events', 'record§2:upcasters'] },
  async () => {
    using from = temporaryHome();
    using to = temporaryHome();
    const home = await openHome({ directory: from.directory, create: true });
    const by = { recorder: 'r' };
    const [history, branch] = [HISTORY, branchRefOf(HISTORY, 0)];
    await home.submit({ id: 's', history, branchId: 0, by, steps: [{ op: 'start', name: 'a' }] });
    const facts = { api: 'openai.chat', model: 'm', parameters: {}, tools: null, request: null } as const;
    for (const id of ['c1', 'c2']) {
      const messages = [{ role: 'user', content: id }];
      await home.calls.recordCall(branch, { id, by, messages, facts });
    }
    await home.close();
    await copyLog({
      from: from.directory,
      to: to.directory,
      directory: to.directory,
      signal: AbortSignal.timeout(60_000),
    });
    expect(await framesOf(from.directory)).toEqual([
      'LogOpened 1',
      'HistoryStarted 1',
      'FormatRaised 1',
      'NodeInserted 2',
      'NodeRemoved 2',
    ]);
    expect(await framesOf(to.directory)).toEqual([
      'LogOpened 1',
      'FormatRaised 1',
      'HistoryStarted 1',
      'NodeInserted 2',
      'NodeRemoved 2',
    ]);
  },
);
