import {
  describeClusters,
  diversity,
  EMBEDDER,
  embedTexts,
  hdbscan,
  roundMetrics,
  unitVectors,
} from '@stemma/analysis';
import type { BranchRef } from '@stemma/history-store';
import { openHome, type Home } from '@stemma/home';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { runPool, startPool, viewPool } from '../src/index.ts';

let directory: string;
let home: Home;
beforeEach(async () => {
  directory = mkdtempSync(join(tmpdir(), 'stemma-pool-metrics-'));
  home = await openHome({ directory, create: true });
});
afterEach(async () => {
  await home.close();
  rmSync(directory, { recursive: true, force: true });
});

const SEEDS = [
  'The sea keeps what it is given.',
  'Nobody counts the stones at night.',
  'A door that is open is not yet a way.',
  'We wrote our names in the sand, and the sea read them.',
];

const start = async (): Promise<BranchRef> => {
  await startPool(home, {
    id: 'start',
    name: 'sea',
    by: { actor: 'ann' },
    messages: SEEDS,
    settings: { sample_size: 3, active_pool_size: 12, seed: 7 },
  });
  return home.find('sea');
};

/** The figures of a position, from the texts that its tree holds. */
const recomputed = async (branch: BranchRef, at: string, before: string | null) => {
  const { messages } = await viewPool(home, branch, at);
  const known =
    before === null
      ? new Set<string>()
      : new Set((await viewPool(home, branch, before)).messages.map(({ id }) => id));
  const active = messages.filter(({ isActive }) => isActive);
  const vectors = embedTexts(active.map(({ text }) => text));
  const added = messages.filter(({ id }) => !known.has(id));
  const [own] =
    added.length === 0
      ? []
      : roundMetrics(
          embedTexts(added.map(({ text }) => text)),
          added.map(() => 0),
          embedTexts(SEEDS),
        );
  const { labels } = hdbscan(unitVectors(vectors));
  const clusters = describeClusters(
    unitVectors(vectors),
    labels,
    active.map(({ round }) => round ?? 10),
  );
  return {
    messages: messages.length,
    active: active.length,
    embedder: EMBEDDER,
    embedded: active.length,
    texts: new Set(active.map(({ text }) => text)).size,
    added: added.length,
    similarity: own?.similarity ?? null,
    seedDistance: own?.seedDistance ?? null,
    diversity: diversity(vectors),
    noise: labels.filter((label) => label < 0).length,
    attractors: clusters.map(({ size, coherence, representative, rows, rounds }) => ({
      size,
      coherence,
      rounds,
      representative: active[representative]?.id,
      members: rows.map((row) => active[row]?.id),
    })),
  };
};

/** All snapshots of a branch, as the rows have them and as its texts give them, to the bit. */
const expectRecomputed = async (branch: BranchRef): Promise<void> => {
  const { snapshots, now } = await home.queries.pools.metrics(await home.position(branch));
  let before: string | null = null;
  for (const { branchId, seq, round, attractors, ...figures } of snapshots) {
    const at = `@c${round}`;
    const found = attractors?.map(({ identity: _identity, ...rest }) => rest);
    expect({ ...figures, attractors: found }).toEqual(await recomputed(branch, at, before));
    expect((await home.position(branch, at)).seq).toBe(seq);
    expect((await home.position(branch, at)).branchId).toBe(branchId);
    before = at;
  }
  const { messages } = await viewPool(home, branch);
  expect(now.messages).toBe(messages.length);
};

test(
  'the figures of every snapshot are those of its texts, to the bit, whatever an observer did',
  { tags: ['long', 'pool:Metrics-and-analysis'] },
  async () => {
    const main = await start();
    await runPool(home, main, { rounds: 10, actor: 'ann' });
    const command = (branch: BranchRef, id: string, steps: readonly object[]) =>
      home.submit({
        id,
        history: branch.history,
        branchId: branch.branchId,
        by: { actor: 'ann' },
        steps: steps as never,
      });
    await command(main, 'fork', [{ op: 'fork', name: 'probe' }]);
    const probe = await home.find('sea:probe');
    const { messages } = await viewPool(home, probe);
    for (const text of ['What would you decide if this could be undone?', 'This goes again.'])
      await command(probe, `inject ${text}`, [{ op: 'inject', text }]);
    const gone = (await viewPool(home, probe)).messages.at(-1);
    await command(probe, 'remove', [{ op: 'remove', id: gone?.id }]);
    const set = { content: 'The sand reads the sea.' };
    await command(probe, 'replace', [{ op: 'replace', id: messages.at(-1)?.id, set }]);
    await runPool(home, probe, { rounds: 6, actor: 'ann' });
    await runPool(home, main, { rounds: 3, actor: 'ann' });
    const { branchId, seq } = await home.position(main, '@c5');
    await command(main, 'rollback', [{ op: 'rollback', to: { branchId, seq } }]);
    const rolled = await home.find('sea');
    await runPool(home, rolled, { rounds: 2, actor: 'ann' });
    await expectRecomputed(rolled);
    await expectRecomputed(main);
    await expectRecomputed(probe);
    expect(await home.operations.replay({ verify: true, batches: [1, 7] })).toMatchObject({ differences: 0 });
  },
);

test(
  'a text has one vector, however often it is said, and a position reads it',
  { tags: ['pool:One-model'] },
  async () => {
    const main = await start();
    await runPool(home, main, { rounds: 5, actor: 'ann' });
    const { messages: embedded } = await home.queries.pools.embedded(await home.position(main));
    const { messages } = await viewPool(home, main);
    expect(embedded.map(({ node }) => node)).toEqual(messages.map(({ id }) => id));
    expect(embedded.map(({ vector }) => [...vector])).toEqual(
      messages.map(({ text }) => [...embedTexts([text]).values]),
    );
  },
);

test(
  'who asks for the figures of what is no pool is told so',
  { tags: ['pool:Metrics-and-analysis'] },
  async () => {
    await home.submit({
      id: 's',
      history: 'plain-history',
      branchId: 0,
      by: { actor: 'ann' },
      steps: [{ op: 'start', name: null, thread: 'pre' }],
    });
    const position = await home.position({ history: 'plain-history', branchId: 0, branch: 'plain-history' });
    await expect(home.queries.pools.metrics(position)).rejects.toMatchObject({ code: 'E_NOT_A_POOL' });
  },
);
