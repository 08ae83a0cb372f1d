import type { HistoryEvent } from '@stemma/events';
import type { Step } from '@stemma/history';
import { HISTORY, naiveHistory, payloadsInMemory, rowsUnderTest, type NaiveHistory } from '@stemma/test-kit';
import type { GenerationView } from '@stemma/row-store';
import type { Projection } from '@stemma/projector';
import { beforeAll, expect, test } from 'vitest';
import { openAudit } from '../src/audit/audit.ts';
import { listEventsOfNode } from '../src/causes/why.ts';
import { findMergeBase, frameSummariesBetween } from '../src/merge-base.ts';
import { bisect } from '../src/prompts/bisect.ts';
import { buildCacheReport } from '../src/prompts/cache.ts';
import { openCounts } from '../src/prompts/measure.ts';
import { openStages } from '../src/stages/open-stages.ts';
import { positionOf } from '../src/read.ts';

/** As much of a projection over naive histories as questions read. */
type Recorded = {
  readonly history: NaiveHistory;
  readonly projection: Projection;
  readonly read: <T>(fn: (view: GenerationView) => T) => T;
};

const record = (
  steps: (i: number) => { readonly steps: readonly Step[]; readonly actor?: string },
  count: number,
): Recorded => {
  const { rows, fold } = rowsUnderTest();
  const history = naiveHistory(fold, HISTORY, 2);
  history.run(0, [{ op: 'start', name: null }]);
  for (let i = 1; i <= count; i++) {
    const { steps: all, actor } = steps(i);
    history.run(0, all, actor === undefined ? { recorder: 'test' } : { actor });
  }
  const events = (seq: number): readonly HistoryEvent[] => history.frames[seq]?.body.events ?? [];
  const projection = {
    read: async (fn: (view: GenerationView) => unknown) => rows.now(fn),
    catchUp: () => Promise.resolve(),
    payloads: payloadsInMemory(events, history.payload),
  } as unknown as Projection;
  return { history, projection, read: (fn) => rows.now(fn) };
};

const line = { history: HISTORY, branchId: 0, branch: HISTORY };
const LONG = 1_060;
let long: Recorded;
beforeAll(() => {
  long = record(
    (i) => ({ actor: 'ana', steps: i % 2 === 0 ? [{ op: 'commit' }] : [{ op: 'annotate', note: `n${i}` }] }),
    LONG,
  );
}, 600_000);

test('a comparison lists 200 interventions and 500 cycles, and counts the others', async () => {
  const { a, b, cycles, moreCycles } = await openAudit(long.projection).compare(line, '@s0', '');
  expect([a.frames, a.interventions, a.interventionFrames.length]).toEqual([0, 0, 0]);
  expect([b.frames, b.interventions]).toEqual([LONG, LONG]);
  expect(b.interventionFrames.map(({ seq }) => seq)).toEqual(Array.from({ length: 200 }, (_, i) => i + 1));
  expect(cycles.map(({ cycle }) => cycle)).toEqual(Array.from({ length: 500 }, (_, i) => i + 1));
  expect(moreCycles).toBe(LONG / 2 - 500);
});

test('a page has at most 1,000 interventions; each of them comes once when all are asked for', async () => {
  const audit = openAudit(long.projection);
  for (const limit of [undefined, 1_000, 5_000]) {
    const page = await audit.interventions(line, {}, limit === undefined ? {} : { limit });
    expect([page.interventions.length, page.next]).toEqual([1_000, 1_001]);
  }
  const seqs: number[] = [];
  for await (const { seq } of audit.eachIntervention(line)) seqs.push(seq);
  expect(seqs).toEqual(Array.from({ length: LONG }, (_, i) => i + 1));
});

test('frames between two others are all of them, however many', () => {
  for (const [from, to] of [
    [0, LONG],
    [5, LONG + 100],
    [3, 1_026],
    [3, 1_027],
    [9, 9],
    [9, 8],
  ] as const) {
    const last = Math.min(to, LONG);
    expect(
      long.read((view) => [...frameSummariesBetween(view, HISTORY, from, to)].map(({ seq }) => seq)),
    ).toEqual(Array.from({ length: Math.max(0, last - from + 1) }, (_, i) => from + i));
  }
});

test('a merge base is found behind any number of frames of other branches', () => {
  const { history, read } = record(() => ({ steps: [{ op: 'commit' }] }), 3);
  const at = (branchId: number, seq: number): object => ({ branchId, seq });
  history.branch('fork', 0, 3);
  const fork = [...history.branches.keys()].at(-1) ?? 0;
  for (let i = 0; i < 140; i++) history.run(fork, [{ op: 'annotate', note: 'n' }]);
  const tip = history.state.next - 1;
  history.run(0, [{ op: 'commit' }]);
  const own = history.state.next - 1;
  for (const [from, to] of [
    [0, 0],
    [3, 3],
    [tip, 3],
    [tip - 5, 3],
    [own, own],
  ] as const)
    expect(
      read((view) => findMergeBase(view, HISTORY, { branchId: 0, seq: from }, { branchId: 0, seq: own })),
    ).toMatchObject({
      mergeBase: at(0, to),
      a: { first: null },
      b: to === own ? { first: null } : { first: to === 3 ? own : 1, startsBranch: false },
    });
  expect(
    read((view) => findMergeBase(view, HISTORY, { branchId: 0, seq: own }, { branchId: fork, seq: tip })),
  ).toMatchObject({
    mergeBase: at(0, 3),
    a: { first: own, startsBranch: false },
    b: { first: fork, startsBranch: true },
  });
});

test('events of a node are those of 1,000 or a few more, in whole frames', async () => {
  const { projection } = record(
    (i) => ({
      steps:
        i === 1
          ? [{ op: 'insert', parent: '^ah', node: { id: 'x', nodeType: 'cb', content: '' } }]
          : Array.from({ length: i === 2 ? 3 : 20 }, (_, k) => ({
              op: 'replace',
              id: 'x',
              set: { content: `${i} ${k}` },
            })),
    }),
    60,
  );
  const count = async (page: { from?: number; limit?: number } = {}): Promise<number> =>
    (await listEventsOfNode(projection, HISTORY, 'x', page)).length;
  expect(await count()).toBe(1_004);
  expect(await count({ from: 2 })).toBe(1_003);
  expect(await count({ from: 3 })).toBe(1_000);
  expect(await count({ limit: 4 })).toBe(4);
  expect(await count({ limit: 5 })).toBe(24);
  expect(await count({ from: 60, limit: 999 })).toBe(20);
  expect(await count({ from: 61 })).toBe(0);
});

test('a bisection shows at most 100 of the ids that match, a cache report the ten worst steps, a comparison 2,000 characters', async () => {
  const many = Array.from({ length: 130 }, (_, k): Step => ({
    op: 'insert',
    parent: '^sys',
    node: { id: `n${k}`, nodeType: 'cb', content: 'x' },
  }));
  const { projection, read } = record(
    (i) => ({
      steps:
        i === 2
          ? [...many, { op: 'commit' }]
          : i < 20
            ? [
                {
                  op: 'insert',
                  parent: '^sys',
                  node: { nodeType: 'cb', offset: -1, content: '🏮'.repeat(1_500) },
                },
                { op: 'commit' },
              ]
            : [{ op: 'commit' }],
    }),
    24,
  );
  const found = await bisect(projection, line, {
    good: '@c1',
    bad: '@c3',
    when: "[id='n1'], #n2, .cb[id!='n1']",
    not: false,
  }).catch((error: unknown) => error);
  expect(found).toBeDefined();
  const ids = await bisect(projection, line, { good: '@c1', bad: '@c2', when: '#n0, #n1' });
  expect(ids.matched).toEqual(['n0', 'n1']);
  const report = await buildCacheReport(projection, line, openCounts());
  expect(report.verdicts.break).toBeGreaterThan(11);
  expect(report.worst).toHaveLength(10);
  const { b } = await openAudit(projection).compare(line, '@c3', '@c4');
  const [node] = b.added;
  expect([node?.excerpt?.length, node?.characters]).toEqual([2_000, 3_000]);
  const odd = await openAudit(projection).compare(line, '@c3', '@c4', { excerpt: 7 });
  expect(odd.b.added[0]?.excerpt).toBe('🏮🏮🏮');
  const stages = openStages(projection);
  const position = read((view) => positionOf(view, line, ''));
  const page = await stages.stream(position, { offset: 0, limit: 5_000 });
  expect(page.limit).toBe(1_000);
});

test(
  'a stream that is larger than all that is kept is described once, not for each question',
  { tags: ['compiler-stages'] },
  async () => {
    const { projection, read } = record(
      (i) => ({
        steps: [
          { op: 'insert', parent: '^ah', node: { id: `n${i}`, nodeType: 'cb', content: `${i}` } },
          { op: 'commit' },
        ],
      }),
      20,
    );
    let reads = 0;
    const counted: Projection = {
      ...projection,
      read: (fn) => (reads++, projection.read(fn)),
      payloads: {
        ...projection.payloads,
        events: (...given: Parameters<Projection['payloads']['events']>) => (
          reads++,
          projection.payloads.events(...given)
        ),
      },
    };
    const stages = openStages(counted, { maxCachedNodes: 8 });
    const position = read((view) => positionOf(view, line, ''));
    const ask = async () => [
      await stages.compile(position),
      await stages.tree(position, { stage: 'FROZEN', includePreviews: false }),
    ];
    const first = await ask();
    expect(reads).toBeGreaterThan(20);
    reads = 0;
    expect(await ask()).toEqual(first);
    expect(reads).toBe(0);
  },
);
