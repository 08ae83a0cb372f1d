import { compareRuns, type RecordedRun } from '@stemma/analysis';
import { expect, it } from 'vitest';
import { experimentPage, REPORT_POLICY, type ExperimentReport, type ReportedBranch } from '../src/index.ts';

const LOUD = `<script>alert(1)</script>"'><img src=x onerror=alert(2)>\u202e\u0007`;

const run = (name: string, tools: readonly string[]): RecordedRun => ({
  name,
  steps: tools.map((tool) => ({
    choices: { [LOUD]: [tool] },
    texts: [{ about: tool, text: `${LOUD} ${tool}` }],
  })),
});

const branch = (name: string, added: number): ReportedBranch => ({
  name,
  snapshots: [1, 2, 3].map((round) => ({
    branchId: 0,
    seq: round * 4,
    embedder: 'stemma-ngrams-1',
    round,
    messages: 4 + round * added,
    active: 5,
    embedded: 5,
    texts: 4,
    added,
    similarity: round === 2 ? 0.5 : null,
    seedDistance: 0.25,
    diversity: 0.5 + round / 10,
    noise: 1,
    attractors: [
      {
        identity: 0,
        size: 3,
        coherence: 0.9,
        representative: 'n1',
        members: ['n1'],
        rounds: { first: 0, last: round, count: 2 },
      },
    ],
  })),
  interventions: [
    {
      id: 'c1',
      timestamp: '2026-11-25T00:00:00.000Z',
      actor: LOUD,
      intervention_type: 'message_inject',
      content: { text: LOUD },
      snapshot_before: '@s3',
      snapshot_after: '@s4',
      notes: LOUD,
      history: 'h',
      branch: name,
      branchId: 0,
      seq: 4,
      annotations: [],
    },
  ],
  texts: new Map([['n1', LOUD]]),
});

const tools = ['search', 'refund', 'search', 'ask'];
const report = (over: Partial<ExperimentReport> = {}): ExperimentReport => ({
  history: LOUD,
  a: branch(LOUD, 1),
  b: branch('probe', 2),
  parted: 1,
  verdict: compareRuns([run('a', tools)], [run('b', ['refund', 'refund', 'ask', 'refund'])], {
    permutations: 99,
  }),
  map: [
    { x: 0, y: 1, look: 'a', round: 2, text: LOUD },
    { x: 1, y: 0, look: 'b', round: null, text: 'two' },
    { x: 2, y: 2, look: 'shared', round: 0, text: 'three' },
  ],
  unmapped: 0,
  command: `stemma report '${LOUD}' --branches a,b`,
  ...over,
});

it('shows verdict, figures, attractors, map and interventions, each plot with its table, and how to make it again', () => {
  const page = experimentPage(report());
  for (const heading of [
    'Verdict: cannot tell',
    'Figures over rounds',
    'Attractors over time',
    'Map of the messages',
    'Interventions',
    'Again',
  ])
    expect(page).toContain(`<h2>${heading}</h2>`);
  // Two halves, six figures, two branches with attractors, one map.
  expect(page.match(/<svg /g)).toHaveLength(11);
  expect(page.match(/<details>/g)).toHaveLength(11);
  expect(page.match(/<circle class="dot a"/g)?.length).toBeGreaterThan(1);
  expect(experimentPage(report())).toBe(page);
});

it('escapes every text from outside, and lets a browser fetch and run nothing', () => {
  const page = experimentPage(report());
  expect(page).toContain("default-src 'none'".replaceAll("'", '&#39;'));
  expect(REPORT_POLICY).toContain("default-src 'none'");
  expect(page).not.toMatch(
    /<script|<img|onerror=(?!alert\(2\)&gt;)|https?:|src=(?!x onerror)|url\(|@import|style="/,
  );
  expect(page).not.toMatch(/[\u202e\u0007]/);
});

it('leaves out what a history that is no pool has not, and draws what has no points', () => {
  const none = { snapshots: null, interventions: [], texts: new Map<string, string>() };
  const page = experimentPage(
    report({ a: { name: 'a', ...none }, b: { name: 'b', ...none }, map: [], parted: null }),
  );
  expect(page).toContain('The history is no pool');
  expect(page.match(/<svg /g)).toHaveLength(2);
  expect(page).not.toContain('NaN');
  const empty = experimentPage(
    report({ a: { name: 'a', ...none, snapshots: [] }, b: { name: 'b', ...none, snapshots: [] } }),
  );
  expect(empty).not.toMatch(/NaN|Infinity/);
});
