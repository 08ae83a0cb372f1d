import { compareCodePoints } from '@stemma/canonical';
import { openMemoryContents } from '@stemma/contents';
import { readBranchState, readHistoryHead, readTipSeq } from '@stemma/history-store';
import { openEmbeddedLog } from '@stemma/log-embedded';
import { findHistory, listBranches } from '@stemma/read-models';
import { openMemoryRowStore } from '@stemma/row-store';
import { openLmdbRowStore } from '@stemma/row-store-lmdb';
import { sized, someRecorded } from '@stemma/test-kit';
import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { openProjector, verifyReplay, type Projector } from '../src/index.ts';

const KILLS = sized(6, 40);

/** What heads, branch and snapshots say of a history is of one moment; gives how many histories were there. */
const lookAtOneState = (projector: Projector, histories: Iterable<string>): Promise<number> =>
  projector.read((view) => {
    let there = 0;
    for (const history of histories) {
      const next = readHistoryHead(view, history)?.next;
      if (next === undefined) continue;
      there++;
      const branches = listBranches(view, history);
      expect(findHistory(view, history)?.seq).toBe(next - 1);
      expect(Math.max(...branches.map(({ seq }) => seq))).toBe(next - 1);
      for (const { branchId, seq } of branches) expect(readTipSeq(view, history, branchId)).toBe(seq);
    }
    return there;
  });

it(
  `loses and invents no rows when it is killed: after ${KILLS} kills at any moment its rows equal a rebuild from the log`,
  { tags: ['record§5:heads'], timeout: 600_000 },
  async () => {
    const directory = mkdtempSync(join(tmpdir(), 'stemma-kill-'));
    const [logs, rows] = [join(directory, 'log'), join(directory, 'rows')];
    const recorded = someRecorded(21, 4, 150);
    const log = await openEmbeddedLog({ directory: logs });
    const share = Math.ceil(recorded.entries.length / KILLS);
    const readers = openLmdbRowStore({ directory: rows });
    const reader = openProjector({ eager: 'all', log, contents: openMemoryContents(), store: readers });
    let kills = 0;
    let looks = 0;
    for (; kills < KILLS; kills++) {
      const child = spawn(
        process.execPath,
        [join(import.meta.dirname, 'run-projector.ts'), logs, rows, kills % 2 === 0 ? 'follow' : 'rebuild'],
        {
          stdio: ['ignore', 'pipe', 'inherit'],
        },
      );
      const ended = new Promise((resolve) => child.once('exit', (_code, signal) => resolve(signal)));
      await Promise.race([new Promise((resolve) => child.stdout.once('data', resolve)), ended]);
      for (const entry of recorded.entries.slice(kills * share, (kills + 1) * share))
        await log.append(0, [entry]);
      // Any moment: the length of the wait is the point of the test. Meanwhile another process's readers look.
      for (const until = performance.now() + ((kills * 37) % 90); performance.now() < until;) {
        looks += await lookAtOneState(reader, recorded.histories.keys());
        await new Promise((resolve) => setTimeout(resolve, 2));
      }
      child.kill('SIGKILL');
      expect(await ended).toBe('SIGKILL');
    }

    expect(looks).toBeGreaterThan(0);
    await readers.close();

    const store = openLmdbRowStore({ directory: rows });
    const projector = openProjector({ eager: 'all', log, contents: openMemoryContents(), store });
    await projector.catchUp();
    const report = await verifyReplay(projector, { scratch: () => openMemoryRowStore() });
    expect({ differences: report.differences, accepted: report.accepted }).toEqual({
      differences: 0,
      accepted: recorded.entries.length + 1,
    });
    for (const [history, naive] of recorded.histories) {
      for (const branchId of naive.branches.keys()) {
        const ids = (nodes: Iterable<{ headers: { id: string } }>): string[] =>
          [...nodes].map(({ headers }) => headers.id).sort(compareCodePoints);
        const { nodes } = await projector.read((view) => readBranchState(view, history, branchId, null));
        expect(ids(nodes)).toEqual(ids(naive.copyAt(branchId, naive.state.next - 1).nodes));
      }
    }
    await store.close();
    await log.close();
    rmSync(directory, { recursive: true, force: true });
  },
);
