import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { runFile } from './run-file.ts';

const file = fileURLToPath(new URL('../../vectors/pact.json', import.meta.url));

const reports = runFile(readFileSync(file, 'utf8'));
const reportOf = (key: string): (typeof reports)[number] => {
  const report = reports.find((each) => each.key === key);
  if (report === undefined) throw new Error(`the file has no ${key}`);
  return report;
};

const VECTORS = [
  {
    key: 'canonical_json',
    count: 70,
    title: 'canonical JSON',
    tags: ['context-tree§2:canonical-JSON', 'context-tree§2:numbers', 'context-tree§10.9'],
  },
  { key: 'content_hash', count: 27, title: 'content hashes', tags: ['context-tree§2:content-hash'] },
  { key: 'sibling_order', count: 4, title: 'siblings', tags: ['context-tree§2:sibling-order'] },
  { key: 'threads', count: 4, title: 'threads', tags: ['context-tree§4:provider-thread'] },
  { key: 'ttl', count: 4, title: 'lifetimes', tags: ['context-tree§3:lifetime'] },
  {
    key: 'imports',
    count: 16,
    title: 'imports',
    tags: ['context-tree§2:defaults', 'context-tree§4:import', 'context-tree§10.8', 'context-tree§10.19'],
  },
  {
    key: 'histories',
    count: 306,
    title: 'steps of histories',
    tags: [
      'context-tree§3:lifetime',
      'context-tree§3:holds',
      'context-tree§5:fork',
      'context-tree§5:rollback',
      'context-tree§5:ranges',
      'context-tree§6:result-of-all',
      'context-tree§6:attributes-of-snapshots',
      'context-tree§10.16',
    ],
  },
  {
    key: 'diffs',
    count: 256,
    title: 'diffs',
    tags: ['context-tree§7:shape', 'context-tree§7:changed', 'context-tree§7:order'],
  },
  {
    key: 'selectors',
    count: 326,
    title: 'selectors',
    tags: [
      'context-tree§6:result-order',
      'context-tree§6:windows',
      'context-tree§10.34',
      'PACT-06§3.2',
      'PACT-06§3.3',
      'PACT-06§7.2',
    ],
  },
  {
    key: 'ranges',
    count: 24,
    title: 'ranges',
    tags: [
      'context-tree§5:ranges',
      'context-tree§5:missing-end',
      'context-tree§6:range-result',
      'context-tree§8:codes',
      'context-tree§10.22',
      'context-tree§10.35',
      'PACT-06§7:E_SNAPSHOT_RANGE_LIMIT',
    ],
  },
];

for (const { key, count, title, tags } of VECTORS)
  test(
    `every vector of ${key} (${count}) is answered as two independent implementations answer it: ${title}`,
    { tags },
    () => {
      const { failures, passed, unsupported } = reportOf(key);
      expect({ failures, passed, unsupported }).toEqual({ failures: [], passed: count, unsupported: 0 });
    },
  );

test('a file with unknown keys, steps and expectations is reported and does not stop the run', () => {
  const text = JSON.stringify({
    format: {},
    stages: [1, 2],
    histories: [
      {
        name: 'odd',
        start: { ids: {} },
        steps: [{ op: 'teleport' }, { op: 'commit', expect: { cycle: 1, mood: 'good' } }],
      },
    ],
    diffs: [{ history: 'nowhere', a: ['main', '@c1'], b: ['main', '@c1'], expect: {} }],
  });
  expect(
    runFile(text).map(({ key, passed, failed, unsupported }) => [key, passed, failed, unsupported]),
  ).toEqual([
    ['histories', 0, 0, 2],
    ['diffs', 0, 1, 0],
    ['stages', 0, 0, 2],
  ]);
});

test('a wrong expectation is a failure that shows both values', () => {
  const [report] = runFile(
    JSON.stringify({
      sibling_order: [
        {
          siblings: [
            ['b', 0, 1, 0],
            ['a', 0, 1, 0],
          ],
          order: ['b', 'a'],
        },
      ],
    }),
  );
  expect(report?.failures[0]?.detail).toBe('order: got ["a","b"], expected ["b","a"]');
});

const stagesFile = fileURLToPath(new URL('../../vectors/ctrees-breadboard-0.1.json', import.meta.url));

test(
  'every case of the compiler stages is answered bit for bit, compatible defects and meant redactions included',
  {
    tags: [
      'compiler-stages:vectors',
      'compiler-stages:node-stream',
      'compiler-stages:digest',
      'compiler-stages:node_hash',
      'compiler-stages:selection',
      'compiler-stages:SPEC',
      'compiler-stages:HEADER',
      'compiler-stages:previews',
      'compiler-stages:FROZEN',
      'compiler-stages:RAW',
      'compiler-stages:hashes',
      'compiler-stages:collapse-policy',
      'compiler-stages:tree-selection',
      'compiler-stages:tree-nodes',
      'compiler-stages:compat',
      'compiler-stages:shape',
    ],
  },
  () => {
    const [report] = runFile(readFileSync(stagesFile, 'utf8'));
    expect(report).toEqual({ key: 'cases', passed: 93, failed: 0, unsupported: 0, failures: [] });
  },
);
