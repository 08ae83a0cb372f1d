import type { HistoryFigures, HistorySummary } from '@stemma/queries';
import { isLike, isThat, type NumberField, type SearchFilter, type SearchWord } from '@stemma/search';

/** A history with its figures. */
export type SeenHistory = { readonly summary: HistorySummary; readonly figures: HistoryFigures };

const sum = (numbers: readonly number[]): number => numbers.reduce((total, each) => total + each, 0);

/** What a field counts. `exit` of a history without an ended program is no number, and no filter lets it through. */
export const numberOf = ({ summary, figures }: SeenHistory, field: NumberField): number => {
  switch (field) {
    case 'tools':
      return sum(figures.tools.map(({ calls }) => calls));
    case 'failed':
      return figures.failures.length;
    case 'cost':
      return figures.cost === null ? NaN : Number(figures.cost.amount);
    case 'branches':
      return summary.branches.length;
    case 'exit':
      return figures.end?.exitCode ?? NaN;
    case 'calls':
    case 'errors':
    case 'tokens':
    case 'interventions':
    case 'held':
      return figures[field];
  }
};

/** True if all filters let a history through. `failed` beside `tool` is about that tool. */
export const letsThrough = (filters: readonly SearchFilter[], seen: SeenHistory): boolean => {
  return filters.every((filter) => {
    switch (filter.field) {
      case 'since':
        return seen.summary.updatedAt >= filter.at;
      case 'until':
        return seen.summary.updatedAt <= filter.at;
      case 'tool':
      case 'model':
      case 'name':
      case 'ended':
      case 'format':
      case 'label':
        return (
          textsOf(seen, filter.field).some((text) => isValue(filter.field, text, filter.value)) !== filter.not
        );
      case 'failed':
        return (
          isThat(seen.figures.failures.filter(({ name }) => isAsked(name, filters)).length, filter) !==
          filter.not
        );
      default:
        return isThat(numberOf(seen, filter.field), filter) !== filter.not;
    }
  });
};

/** True if filters are about the tool: they name it, or none. */
export const isAsked = (tool: string, filters: readonly SearchFilter[]): boolean =>
  filters.every((filter) => filter.field !== 'tool' || filter.not || isLike(tool, filter.value));

const isValue = (field: string, text: string, wanted: string): boolean =>
  isLike(text, field === 'label' && !wanted.includes('=') ? `${wanted}=*` : wanted);

const textsOf = (
  { summary, figures }: SeenHistory,
  field: Extract<SearchFilter, { readonly value: string }>['field'],
): readonly string[] => {
  switch (field) {
    case 'tool':
      return figures.tools.map(({ name }) => name);
    case 'model':
      return figures.models;
    case 'name':
      return summary.name === null ? [] : [summary.name];
    case 'ended':
      return [endedWith(figures) ?? ''];
    case 'format':
      return summary.source === null ? [] : [summary.source.format];
    case 'label':
      return summary.labels.map(({ label, value }) => `${label}=${value}`);
  }
};

/** What `main` decided last; null: nothing that is known. */
export const endedWith = ({ main }: HistoryFigures): string | null =>
  main.findLast(({ what }) => what !== '')?.what ?? null;

/** True if the words that are no phrases stand in the name, or begin the id. */
export const isNamed = (words: readonly SearchWord[], { name, history }: HistorySummary): boolean =>
  words.every(
    ({ text, isPhrase, not }) =>
      isPhrase ||
      (history.startsWith(text) || (name ?? '').toLowerCase().includes(text.toLowerCase())) !== not,
  );
