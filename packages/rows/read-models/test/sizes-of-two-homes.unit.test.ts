import type { Step } from '@stemma/history';
import { foldFrame } from '@stemma/history-store';
import { openMemoryRowStore, stageRows } from '@stemma/row-store';
import { foldedPayloads, naiveHistory, START } from '@stemma/test-kit';
import { beforeAll, expect, test } from 'vitest';
import { ALL_FOLDS, findPromptSize, loadingTokenizer } from '../src/index.ts';

beforeAll(() => loadingTokenizer.fetch([]));

/** What a model is shown after one call, in bytes: of a history named `h` in a home of its own. */
const bytesShown = (content: string): number | undefined => {
  const tables = ALL_FOLDS.flatMap((model) => model.tables);
  const rows = openMemoryRowStore().rows('test', tables);
  const payloadsOf = foldedPayloads();
  const history = naiveHistory((frame) => {
    const changes = rows.now((view) => {
      const staged = stageRows(view);
      for (const model of ALL_FOLDS) foldFrame(model, frame, staged, payloadsOf(frame));
      return staged.changes();
    });
    const cursor = Uint8Array.of(frame.seq);
    void rows.commit({ partition: 0, expected: rows.now((view) => view.cursor(0)), cursor, changes });
  }, 'h');
  const said: Step = {
    op: 'insert',
    parent: '^ah',
    node: { id: 'm', nodeType: 'cb', role: 'user', content },
  };
  history.run(0, [START]);
  history.run(0, [said, { op: 'commit' }]);
  return rows.now((view) => findPromptSize(view, 'h', { branchId: 0, seq: 1 })?.bytes);
};

test('two homes that a process folds have sizes of their own, though their histories are named alike', () => {
  const [short, long] = [bytesShown('short'), bytesShown('much, much longer')];
  expect(long).toBe((short ?? 0) + 'much, much longer'.length - 'short'.length);
});
