import { isStemmaError } from '@stemma/errors';
import { existsSync, readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { parseSelector } from '../src/parse-selector.ts';
import { select, type Window } from '../src/select.ts';
import { treeOfExport } from './tree-of-export.ts';

type Expected = string[] | { error?: string; answer_or_error?: string[]; query?: string };
type Fixture = { fixture: unknown; cases: [string, Expected, Window?][] };

const file = [
  new URL('../../test-kit/vectors/pact.json', import.meta.url),
  new URL('../../../../shared/golden/pact.json', import.meta.url),
].find((url) => existsSync(url));

/** Which snapshot a marker means is not this package's business: an import has one, of its own cycle. */
const missing = (query: string, cycle: number): boolean => {
  const { at } = parseSelector(query);
  if (at.kind === 'c') return at.cycle !== cycle;
  return at.kind === 't' ? at.value !== 0 : at.kind === 'name' || at.kind === 's';
};

/** Passed and not yet supported, by fixture: a change of the subset shows here. */
const COUNTS = [
  [9, 12],
  [0, 4],
  [127, 135],
  [13, 26],
];

type Outcome = 'passed' | 'not yet supported';

describe.skipIf(file === undefined)('the golden selectors', () => {
  const fixtures: Fixture[] =
    file === undefined ? [] : (JSON.parse(readFileSync(file, 'utf8')) as { selectors: Fixture[] }).selectors;

  it.each(fixtures.map((fixture, index) => ({ index, ...fixture })))(
    'fixture $index: every query within the subset gives the golden ids or the golden error [context-tree §6: types and ids, §6: attributes, §6: result order, §10.33]',
    ({ index, fixture, cases }) => {
      const { tree, payloads } = treeOfExport(JSON.stringify(fixture));
      const run = ([query, expected, window]: Fixture['cases'][number]): Outcome => {
        const started = performance.now();
        const answer = answerTo(() => {
          if (missing(query, tree.cycle)) return { error: 'E_SNAPSHOT_NOT_FOUND' };
          return [...select(tree, parseSelector(query), payloads, window)];
        });
        expect(performance.now() - started, query.slice(0, 80)).toBeLessThan(2_000);
        if (!Array.isArray(answer) && answer.error === 'E_SELECTOR_UNSUPPORTED') return 'not yet supported';
        const hostile = !Array.isArray(expected) && expected.answer_or_error !== undefined;
        if (hostile && !Array.isArray(answer)) return 'passed';
        const wanted = Array.isArray(expected)
          ? expected
          : (expected.answer_or_error ?? { error: expected.error });
        expect(answer, query.slice(0, 200)).toEqual(wanted);
        return 'passed';
      };
      const outcomes = cases.map(run);
      const count = (outcome: Outcome): number => outcomes.filter((each) => each === outcome).length;
      expect([count('passed'), count('not yet supported')]).toEqual(COUNTS[index]);
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
