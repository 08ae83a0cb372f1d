import { isStemmaError } from '@stemma/errors';
import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { parseSelector } from '../src/parse-selector.ts';
import { select, type Window } from '../src/select.ts';
import { treeOfExport } from './tree-of-export.ts';

type Expected = string[] | { error?: string; answer_or_error?: string[]; query?: string };
type Fixture = { fixture: unknown; cases: [string, Expected, Window?][] };

const file = new URL('../../../testing/test-kit/vectors/pact.json', import.meta.url);

/** Which snapshot a marker means is not this package's business: an import has one, of its own cycle. */
const missing = (query: string, cycle: number): boolean => {
  const { at } = parseSelector(query);
  if (at.kind === 'c') return at.cycle !== cycle;
  if (at.kind === 'range')
    return at.of === 't' ? at.from !== 0 || at.to !== 0 : at.from !== cycle || at.to !== cycle;
  return at.kind === 't' ? at.value !== 0 : at.kind === 'name' || at.kind === 's';
};

describe('the golden selectors', () => {
  const fixtures = (JSON.parse(readFileSync(file, 'utf8')) as { selectors: Fixture[] }).selectors;

  it.each(fixtures.map((fixture, index) => ({ index, ...fixture })))(
    'fixture $index: every query of one snapshot gives the golden ids or the golden error',
    {
      tags: [
        'context-tree§6:types-and-ids',
        'context-tree§6:zones',
        'context-tree§6:scopes',
        'context-tree§6:counting',
        'context-tree§6:attributes',
        'context-tree§6:attributes-of-snapshots',
        'context-tree§6:comparison',
        'context-tree§6:result-order',
        'context-tree§6:windows',
        'context-tree§10.24',
        'context-tree§10.25',
        'context-tree§10.26',
        'context-tree§10.27',
        'context-tree§10.28',
        'context-tree§10.29',
        'context-tree§10.30',
        'context-tree§10.33',
        'context-tree§10.34',
        'PACT-06§3.2',
        'PACT-06§3.3',
        'PACT-06§7.2',
      ],
    },
    ({ fixture, cases }) => {
      const { tree, payloads } = treeOfExport(JSON.stringify(fixture));
      for (const [query, expected, window] of cases) {
        if (!Array.isArray(expected) && expected.query !== undefined) continue;
        const started = performance.now();
        const answer = answerTo(() => {
          if (missing(query, tree.cycle)) return { error: 'E_SNAPSHOT_NOT_FOUND' };
          const selector = parseSelector(query);
          const snapshot = selector.at.kind !== 'working';
          // An import is the first snapshot of its ancestor path: everything in it appears there.
          const appeared = (): number => tree.cycle;
          return [...select(tree, selector, payloads, { ...window, snapshot, appeared })];
        });
        expect(performance.now() - started, query.slice(0, 80)).toBeLessThan(2_000);
        const hostile = !Array.isArray(expected) && expected.answer_or_error !== undefined;
        if (hostile && !Array.isArray(answer)) continue;
        const wanted = Array.isArray(expected)
          ? expected
          : (expected.answer_or_error ?? { error: expected.error });
        expect(answer, query.slice(0, 200)).toEqual(wanted);
      }
    },
  );
});

const answerTo = (ask: () => string[] | { error: string }): string[] | { error: string } => {
  try {
    return ask();
  } catch (error) {
    if (!isStemmaError(error)) throw error;
    return { error: error.code };
  }
};
