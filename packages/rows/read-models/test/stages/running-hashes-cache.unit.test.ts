import type { AppliedFrame } from '@stemma/history';
import { openMemoryRowStore, stageRows, type MemoryGeneration, type StagedRows } from '@stemma/row-store';
import { anyOperations, naiveHistory, perform, START, sized } from '@stemma/test-kit';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { stages } from '../../src/index.ts';
import { openStagesFold } from '../../src/stages/fold.ts';
import { openRunningHashesCache, type RunningHashesCache } from '../../src/stages/running-hashes-cache.ts';
import { addNodes, emptyRunningHashes } from '../../src/stages/running-hashes.ts';

const RUNS = Number(process.env['STEMMA_RUNS'] ?? sized(6, 15));

/** A projector of this model alone: `batch` says how many frames it commits at once. */
const projector = (states: RunningHashesCache, batch: number) => {
  const rows = openMemoryRowStore().rows('test', stages.tables);
  const fold = openStagesFold(states);
  let staged: StagedRows | undefined;
  let frames = 0;
  let commits = 0;
  const open = (): StagedRows => (staged ??= rows.now((view) => stageRows(view)));
  const flush = (): void => {
    const expected = rows.now((view) => view.cursor(0));
    void rows.commit({
      partition: 0,
      expected,
      cursor: Uint8Array.of(++commits & 255, commits >> 8),
      changes: open().changes(),
    });
    staged = undefined;
    frames = 0;
  };
  return {
    rows,
    flush,
    fold: (frame: AppliedFrame): void => {
      fold(frame, open());
      if (++frames >= batch) flush();
    },
    /** Folds a frame that is then given up. */
    abort: (frame: AppliedFrame): void => {
      const before = open();
      const mark = before.savepoint();
      fold(frame, before);
      before.rollbackTo(mark);
    },
  };
};

const allRows = (rows: MemoryGeneration): unknown =>
  rows.now((view) => stages.tables.map((table) => [table.name, [...view.entries(table)]]));

test(
  'the rows are the same with any content of the cache: nothing, a little, everything, another projector’s states, or those of a discarded frame',
  { tags: ['compiler-stages:stages-of-cycles'] },
  () => {
    fc.assert(
      fc.property(
        anyOperations(1, 40),
        fc.array(fc.nat(6), { minLength: 1, maxLength: 12 }),
        (actions, chances) => {
          const shared = openRunningHashesCache(1e9);
          const cold = projector(openRunningHashesCache(0), 1);
          const others = [
            projector(openRunningHashesCache(1e9), 1),
            projector(openRunningHashesCache(1e9), 7),
            projector(openRunningHashesCache(8_000), 3),
            projector(shared, 2),
            projector(shared, 1_000),
          ];
          let turn = 0;
          const history = naiveHistory((frame) => {
            cold.fold(frame);
            for (const each of others) {
              for (let again = chances[turn++ % chances.length]!; again > 4; again--) each.abort(frame);
              each.fold(frame);
            }
          });
          history.run(0, [START]);
          for (const action of actions) perform(history, action);
          cold.flush();
          const expected = allRows(cold.rows);
          for (const each of others) {
            each.flush();
            expect(allRows(each.rows)).toEqual(expected);
          }
        },
      ),
      { numRuns: RUNS },
    );
  },
);

test(
  'states are kept up to a number of bytes, and those used longest ago go first',
  { tags: ['compiler-stages:stages-of-cycles'] },
  () => {
    const states = openRunningHashesCache(4 * 1_536 + 100);
    for (const name of ['a', 'b', 'c']) states.put(name, emptyRunningHashes());
    expect(states.copy('a')).toBeDefined();
    states.put('a', states.take('a')!);
    states.put('d', emptyRunningHashes());
    states.put('e', emptyRunningHashes());
    const kept = ['a', 'b', 'c', 'd', 'e'].filter((name) => states.copy(name) !== undefined);
    expect(kept).toEqual(['a', 'c', 'd', 'e']);
  },
);

test(
  'a copy of a cached state that goes on does not change the cached one',
  { tags: ['compiler-stages:our-stream'] },
  () => {
    const states = openRunningHashesCache(1e6);
    states.put('here', emptyRunningHashes());
    const copy = states.copy('here')!;
    addNodes(copy, [{ kind: 'tool_call', digest: 'a' }]);
    expect(states.take('here')!.count).toBe(0);
    expect(states.take('here')).toBeUndefined();
  },
);
