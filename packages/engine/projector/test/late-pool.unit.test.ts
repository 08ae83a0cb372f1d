import { embedText, EMBEDDER } from '@stemma/analysis';
import { openMemoryContents } from '@stemma/contents';
import { openMemoryLog } from '@stemma/log';
import { listEmbeddedMessages } from '@stemma/read-models';
import { openMemoryRowStore } from '@stemma/row-store';
import { allRows, appendAll, entriesOf, naiveHistory, START } from '@stemma/test-kit';
import type { Step } from '@stemma/history';
import { expect, it } from 'vitest';
import { openProjector } from '../src/index.ts';

const TEXTS = ['the sea', 'keeps what', 'it is given', 'the sea'];

const said = (content: string): Step => ({
  op: 'insert',
  parent: '^ah',
  node: { nodeType: 'cb', role: 'user', kind: 'text', content },
});

/** A history whose first messages are there before its configuration says that it is a pool. */
const entries = (() => {
  const history = naiveHistory(() => undefined, 'late');
  history.run(0, [START, said(TEXTS[0] as string), { op: 'commit' }]);
  history.run(0, [said(TEXTS[1] as string)]);
  history.run(0, [{ op: 'config', set: { active_pool_size: 10 } }, said(TEXTS[2] as string)]);
  history.run(0, [said(TEXTS[3] as string), { op: 'commit' }]);
  return entriesOf(history.frames);
})();

const folded = async (eager: 'all' | undefined, frames: number | undefined) => {
  const log = await openMemoryLog();
  await appendAll(log, entries);
  const projector = openProjector({
    log,
    contents: openMemoryContents(),
    store: openMemoryRowStore(),
    ...(eager && { eager }),
    ...(frames !== undefined && { limits: { frames } }),
  });
  await projector.catchUp();
  const messagesAt = (seq: number) =>
    projector.read((view) => listEmbeddedMessages(view, { history: 'late', branchId: 0, seq }, EMBEDDER));
  return { messagesAt, rows: async () => allRows(await projector.generation()) };
};

it.each([
  ['with every frame', 'all', undefined],
  ['with every frame, each committed alone', 'all', 1],
  ['on demand', undefined, undefined],
] as const)('embeds what was said before a history was a pool: %s', async (_, eager, frames) => {
  const { messagesAt } = await folded(eager, frames);
  const messages = await messagesAt(3);
  expect(messages.map(({ vector }) => vector)).toEqual(TEXTS.map(embedText));
});

it('writes the same rows whatever is committed together, and no vector of what is no pool', async () => {
  const [together, alone] = [await folded('all', undefined), await folded('all', 1)];
  expect(await alone.rows()).toEqual(await together.rows());
  const log = await openMemoryLog();
  await appendAll(log, entries.slice(0, 2));
  const projector = openProjector({
    log,
    contents: openMemoryContents(),
    store: openMemoryRowStore(),
    eager: 'all',
  });
  await projector.catchUp();
  const rows = await allRows(await projector.generation());
  expect(rows['pool_texts']).toHaveLength(2);
  expect(rows['pool_vectors']).toEqual([]);
});
