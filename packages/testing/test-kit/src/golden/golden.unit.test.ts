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

test.each([
  ['canonical_json', 70, 'canonical JSON [context-tree §2: canonical JSON, §2: numbers, §10.9]'],
  ['content_hash', 27, 'content hashes [context-tree §2: content hash]'],
  ['sibling_order', 4, 'siblings [context-tree §2: sibling order]'],
  ['threads', 4, 'threads [context-tree §4: provider thread]'],
  ['ttl', 4, 'lifetimes [context-tree §3: lifetime]'],
  ['imports', 16, 'imports [context-tree §2: defaults, §4: import, §10.8, §10.19]'],
  [
    'histories',
    306,
    'steps of histories [context-tree §3: lifetime, §3: holds, §5: fork, §5: rollback, §5: ranges, §6: result of all, §6: attributes of snapshots, §10.16]',
  ],
  ['diffs', 256, 'diffs [context-tree §7: shape, §7: changed, §7: order]'],
  [
    'selectors',
    326,
    'selectors [context-tree §6: result order, §6: windows, §10.34] [PACT 06 §3.2, PACT 06 §3.3, PACT 06 §7.2]',
  ],
  [
    'ranges',
    24,
    'ranges [context-tree §5: ranges, §5: missing end, §6: range result, §8: codes, §10.22, §10.35] [PACT 06 §7: E_SNAPSHOT_RANGE_LIMIT]',
  ],
])('every vector of %s (%i) is answered as two independent implementations answer it: %s', (key, count) => {
  const { failures, passed, unsupported } = reportOf(key);
  expect({ failures, passed, unsupported }).toEqual({ failures: [], passed: count, unsupported: 0 });
});

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

test('every case of the compiler stages is answered bit for bit, compatible defects and meant redactions included [compiler-stages: vectors; compiler-stages: node stream; compiler-stages: digest; compiler-stages: node_hash; compiler-stages: selection; compiler-stages: SPEC; compiler-stages: HEADER; compiler-stages: previews; compiler-stages: FROZEN; compiler-stages: RAW; compiler-stages: hashes; compiler-stages: collapse policy; compiler-stages: tree selection; compiler-stages: tree nodes; compiler-stages: compat; compiler-stages: shape]', () => {
  const [report] = runFile(readFileSync(stagesFile, 'utf8'));
  expect(report).toEqual({ key: 'cases', passed: 93, failed: 0, unsupported: 0, failures: [] });
});
