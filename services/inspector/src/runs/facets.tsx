import type { ComponentChildren } from 'preact';
import { SafeText, visible } from '../parts/safe-text.tsx';
import { grouped } from '../parts/words.ts';
import { hasFilter } from './rows-of.ts';
import { useFacets, type RunsQuestion } from './use-runs.ts';

const TITLES: Readonly<Record<string, string>> = {
  state: 'State',
  model: 'Model',
  tool: 'Tool',
  format: 'Imported from',
};

/** What the runs have, each a filter that a click adds or takes away. */
export const Facets = ({
  question,
  toggle,
}: {
  readonly question: RunsQuestion;
  readonly toggle: (filter: string) => void;
}): ComponentChildren => {
  const found = useFacets(question);
  return (
    <aside class="panel run-facets scroll" aria-label="Filters" tabIndex={0}>
      {found.state === 'pending' && <p class="note pending">Counting…</p>}
      {found.state === 'done' &&
        found.value.facets.map(({ field, values }) => (
          <section key={field}>
            <h2>
              <SafeText text={TITLES[field] ?? field} />
            </h2>
            <ul>
              {values.map(({ value, count, filter }) => (
                <li key={filter}>
                  <button
                    class="facet"
                    aria-pressed={hasFilter(question.q ?? '', filter)}
                    title={visible(filter)}
                    onClick={() => toggle(filter)}
                  >
                    <span class="facet-value">
                      <SafeText text={value} />
                    </span>
                    <span class="quiet">{grouped(count)}</span>
                  </button>
                </li>
              ))}
            </ul>
          </section>
        ))}
    </aside>
  );
};
