import type { Difference, SummarizedCall } from '@stemma/rerun';
import { expect, test } from 'vitest';
import { REPORT_POLICY, rerunPage, type RerunPageReport } from '../src/index.ts';

const LOUD = `<script>alert(1)</script></pre></style>"'><img src=x onerror=alert(2)>\u202e\u0007 javascript:x`;

const difference = (of: string, a: string, b: string): Difference => ({
  ...{ of, among: 1, cause: 'tool result', message: 7, role: 'tool', name: null, a, b },
  askedBy: { tool: 'lookup', arguments: '{"q":"pier-2"}', call: '@c3' },
  ...{ conflict: null, gone: 0 },
});

const call = (
  label: string,
  how: SummarizedCall['how'],
  given: Partial<SummarizedCall> = {},
): SummarizedCall => ({
  ...{ label, how, bindings: [], difference: null, shownTo: [], ledTo: null },
  ...given,
});

const report = (given: Partial<RerunPageReport> = {}): RerunPageReport => ({
  ...{ name: 'shop', rerun: 'rerun-1', of: 'r1', command: 'python agent.py' },
  ...{ startedAt: 1_764_295_300_000, endedAt: 1_764_295_300_250, ends: { recorded: 0, now: 1, check: null } },
  ...{ canGoLive: true, recordedBy: () => '@s4 (n:0:4:2), proxy', forks: [], learned: [] },
  summary: {
    calls: [
      call('@c1', 'same'),
      call('@c2', 'bound'),
      call('@c4', 'differs', {
        difference: difference(
          '@c4',
          'equal\nequal\nequal\npier-2: 3 ships',
          'equal\nequal\nequal\npier-2: 9 ships',
        ),
        shownTo: ['@c4', '@c5', '@c6'],
        ledTo: { calls: 3, tokens: 1155 },
      }),
      call('@c5', 'missing'),
    ],
    counts: { same: 1, bound: 1, differs: 1, missing: 1, extra: 0, live: 0, notKept: 0, recorded: 4 },
    world: [],
    bindings: [{ kind: 'uuid', recorded: '3f2a', now: '9c41' }],
    notes: ['the mask day bound 2 values'],
  },
  ...given,
});

/** The page's text without tags, white space folded. */
const textOf = (page: string): string =>
  page
    .replace(/<style>[\s\S]*<\/style>/, '')
    .replace(/<[^>]+>/g, '')
    .replace(/\s+/g, ' ');

test('the page of a rerun says what differs, why, what hung on it and what to do next', () => {
  const page = rerunPage(report());
  const text = textOf(page);
  for (const said of [
    '@c4 differs: a tool gave something else',
    '1 same · 1 bound · 1 differs · 1 missing · of 4 recorded calls · exit 5',
    '@c1 = same',
    '@c2 ≈ bound',
    '@c5 ∅ missing',
    'message 8, result of lookup({&quot;q&quot;:&quot;pier-2&quot;}), which @c3 asked for',
    '… 2 equal lines',
    'a tool gave something else; prompt, tools and parameters are the same',
    '@s4 (n:0:4:2), proxy',
    '@c4 … @c6 (3 calls, 1,155 tokens)',
    'the mask day bound 2 values',
    'The command ended with 1, and when it was recorded with 0.',
    'stemma rerun shop --from @c4 -- python agent.py',
  ])
    expect(text).toContain(said);
  expect(page).toContain('pier-2: <del>3</del><ins>9</ins> ships');
  expect(rerunPage(report())).toBe(page);
});

test('a rerun that is the same says so, and proposes nothing', () => {
  const { summary } = report();
  const counts = { ...summary.counts, same: 2, bound: 0, differs: 0, missing: 0, recorded: 2 };
  const text = textOf(
    rerunPage(
      report({
        ends: { recorded: 0, now: 0, check: null },
        forks: ['shop:what-if'],
        summary: {
          ...{ counts, world: [], bindings: [], notes: [] },
          calls: [call('@c1', 'same'), call('@c2', 'same')],
        },
      }),
    ),
  );
  expect(text).toContain('All 2 calls that were answered from the recording are the same');
  expect(text).toContain('stemma compare shop shop:what-if');
  expect(text).not.toContain('Go on from here');
});

test('how the command and its check ended is said where it matters', () => {
  const text = textOf(rerunPage(report({ ends: { recorded: 0, now: 3, check: 7 } })));
  expect(text).toContain('The command ended with 3, and when it was recorded with 0.');
  expect(text).toContain('The check of what it left behind ended with 7.');
  const fine = textOf(rerunPage(report({ ends: { recorded: 0, now: 0, check: null } })));
  expect(fine).not.toContain('ended with');
});

test('every text of a rerun is text on its page: nothing runs, nothing is fetched', () => {
  const { summary } = report();
  const page = rerunPage(
    report({
      ...{ name: LOUD, rerun: LOUD, of: LOUD, command: LOUD, forks: [LOUD], learned: [LOUD] },
      recordedBy: () => LOUD,
      summary: {
        ...summary,
        calls: [
          call(LOUD, 'differs', {
            difference: {
              ...difference(LOUD, `${LOUD}\n1`, `${LOUD}\n2`),
              ...{ name: LOUD, role: LOUD, askedBy: { tool: LOUD, arguments: LOUD, call: LOUD } },
              conflict: { now: LOUD, recorded: LOUD, known: LOUD },
            },
            ...{ shownTo: [LOUD], ledTo: { calls: 1, tokens: 1 } },
          }),
        ],
        world: [{ call: LOUD, tool: LOUD, a: LOUD, b: `${LOUD} ${LOUD}` }],
        bindings: [{ kind: 'mask', mask: LOUD, recorded: LOUD, now: LOUD }],
        notes: [LOUD],
      },
    }),
  );
  expect(page.match(/<(script|img|svg|iframe|form|input|link|object|base)\b/gi)).toBe(null);
  expect(page.match(/<style>/g)).toHaveLength(1);
  expect(page.match(/<[a-z][^>]*\s(href|src|on\w+)=/gi)).toBe(null);
  expect(page).not.toMatch(/[\u202e\u0007]/);
  expect(page).toContain(REPORT_POLICY.replaceAll("'", '&#39;'));
});
