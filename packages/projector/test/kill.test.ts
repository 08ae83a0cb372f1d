import { compareCodePoints } from '@stemma/canonical';
import { openMemoryContents } from '@stemma/contents';
import { readLineage } from '@stemma/read-models';
import { openMemoryRowStore } from '@stemma/row-store';
import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { openEmbeddedLog } from '../../log-embedded/src/index.ts';
import { openLmdbRowStore } from '../../row-store-lmdb/src/index.ts';
import { openProjector, verifyReplay } from '../src/index.ts';
import { someRecorded } from './recorded.ts';

const KILLS = 40;

it(
  'loses and invents nothing when it is killed: after 40 kills at any moment its rows are the fold of the log, without help [record §5]',
  { timeout: 240_000 },
  async () => {
    const directory = mkdtempSync(join(tmpdir(), 'stemma-kill-'));
    const [logs, rows] = [join(directory, 'log'), join(directory, 'rows')];
    const recorded = someRecorded(21, 4, 150);
    const log = await openEmbeddedLog({ directory: logs });
    const share = Math.ceil(recorded.entries.length / KILLS);
    let kills = 0;
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
      // Any moment: the length of the wait is the point of the test.
      await new Promise((resolve) => setTimeout(resolve, (kills * 37) % 90));
      child.kill('SIGKILL');
      expect(await ended).toBe('SIGKILL');
    }

    const store = openLmdbRowStore({ directory: rows });
    const projector = openProjector({ log, contents: openMemoryContents(), store });
    await projector.catchUp();
    const report = await verifyReplay(projector, { scratch: () => openMemoryRowStore() });
    expect({ differences: report.differences, accepted: report.accepted }).toEqual({
      differences: 0,
      accepted: recorded.entries.length + 1,
    });
    for (const [history, naive] of recorded.histories) {
      for (const strand of naive.strands.keys()) {
        const ids = (nodes: Iterable<{ headers: { id: string } }>): string[] =>
          [...nodes].map(({ headers }) => headers.id).sort(compareCodePoints);
        const { nodes } = projector.read((view) => readLineage(view, history, strand, null));
        expect(ids(nodes)).toEqual(ids(naive.copyAt(strand, naive.state.next - 1).nodes));
      }
    }
    await store.close();
    await log.close();
    rmSync(directory, { recursive: true, force: true });
  },
);
