import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { runFile } from './run-file.ts';

const file = fileURLToPath(new URL('../../vectors/pact.json', import.meta.url));

test('every vector is answered as two independent implementations answer it, or not yet at all [context-tree §10]', () => {
  const reports = runFile(readFileSync(file, 'utf8'));
  expect(reports.flatMap(({ failures }) => failures)).toEqual([]);
  const complete = ['canonical_json', 'content_hash', 'sibling_order', 'threads', 'ttl', 'imports'];
  for (const { key, unsupported } of reports)
    if (complete.includes(key)) expect([key, unsupported]).toEqual([key, 0]);
});

test('a file with unknown keys, steps and expectations is reported and does not stop the run [context-tree §10]', () => {
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
