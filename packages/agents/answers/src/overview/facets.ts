import type { AnswerOf, QUESTIONS } from '@stemma/api';
import { compareCodePoints } from '@stemma/canonical';
import type { SeenHistory } from './matching.ts';

type Facet = AnswerOf<typeof QUESTIONS.overview>['facets'][number];

const MOST_VALUES = 12;

/** What histories have, most of them first: fields of the language with their values, and the filter for each. */
export const facetsOf = (seen: readonly SeenHistory[]): Facet[] => {
  const labels = new Set(seen.flatMap(({ summary }) => summary.labels.map(({ label }) => label)));
  return [
    stateFacet(seen),
    counted('model', seen, ({ figures }) => figures.models),
    counted('tool', seen, ({ figures }) => figures.tools.map(({ name }) => name)),
    ...[...labels]
      .sort(compareCodePoints)
      .map((label) =>
        counted(label, seen, ({ summary }) =>
          summary.labels.flatMap((one) => (one.label === label ? [one.value] : [])),
        ),
      ),
    counted('format', seen, ({ summary }) => (summary.source === null ? [] : [summary.source.format])),
  ].filter(({ values }) => values.length > 0);
};

const stateFacet = (seen: readonly SeenHistory[]): Facet => {
  const states: readonly (readonly [string, string, (one: SeenHistory) => boolean])[] = [
    ['a tool failed', 'failed:true', ({ figures }) => figures.failures.length > 0],
    ['a call failed', 'errors:true', ({ figures }) => figures.errors > 0],
    ['held now', 'held:true', ({ figures }) => figures.held > 0],
    ['with branches', 'branches:true', ({ summary }) => summary.branches.length > 1],
    ['with interventions', 'interventions:true', ({ figures }) => figures.interventions > 0],
    ['the program failed', 'exit:>0', ({ figures }) => (figures.end?.exitCode ?? 0) > 0],
  ];
  return {
    field: 'state',
    values: states
      .map(([value, filter, has]) => ({ value, filter, count: seen.filter(has).length }))
      .filter(({ count }) => count > 0),
  };
};

const counted = (
  field: string,
  seen: readonly SeenHistory[],
  valuesOf: (one: SeenHistory) => readonly string[],
): Facet => {
  const counts = new Map<string, number>();
  for (const one of seen)
    for (const value of new Set(valuesOf(one))) counts.set(value, (counts.get(value) ?? 0) + 1);
  return {
    field,
    values: [...counts]
      .map(([value, count]) => ({ value, count, filter: filterOf(field, value) }))
      .sort((a, b) => b.count - a.count || compareCodePoints(a.value, b.value))
      .slice(0, MOST_VALUES),
  };
};

const FIELDS: ReadonlySet<string> = new Set(['model', 'tool', 'format']);

/** A text as the language has it: in quotation marks where it has spaces; a quotation mark in it stands for any character. */
const filterOf = (field: string, value: string): string => {
  const asked = (FIELDS.has(field) ? value : `${field}=${value}`).replaceAll('"', '*');
  return `${FIELDS.has(field) ? field : 'label'}:${/[\s"]/u.test(asked) ? `"${asked}"` : asked}`;
};
