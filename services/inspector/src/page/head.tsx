import { importLine, importSentences, type HistorySummaryAnswer } from '@stemma/api';
import type { ComponentChildren } from 'preact';
import { branchLabel, findChosenBranch } from './chosen.ts';
import type { Go } from './address.ts';
import { HeldBadge } from './held-badge.tsx';
import type { Live } from './live.ts';
import { SafeText, visible } from '../parts/safe-text.tsx';
import { useChanges } from '../tree/use-changes.ts';

const LIVE = { connecting: 'connecting', live: 'live', offline: 'offline' } as const;

const CALLERS = {
  argument: 'guessed: its tool has what is asked here',
  waiting: 'guessed: it waited for a tool',
  said: 'as the imported file says',
  assigned: 'as somebody said',
} as const;

/** The name of the page, the history shown, its branches, and whether it is live. */
export const Head = ({
  summary,
  chosen,
  live,
  choose,
  help,
  legend,
  find,
  title,
  isRuns,
  go,
}: {
  readonly summary: HistorySummaryAnswer | undefined;
  readonly chosen: string | null;
  readonly live: Live;
  readonly choose: (branch: string) => void;
  readonly help: () => void;
  readonly legend: () => void;
  readonly find: () => void;
  /** What the tab of the browser says, before the name of the page. */
  readonly title: readonly (string | null | undefined)[];
  /** True: the table of all runs is shown, and no history. */
  readonly isRuns: boolean;
  readonly go: Go;
}): ComponentChildren => {
  useChanges(live);
  const state = live.state();
  const branch = summary && findChosenBranch(summary, chosen);
  const [caller, continued] = [branch?.calledBy ?? null, branch?.mayContinue ?? null];
  return (
    <header class="head">
      <h1>
        <span class="mark" aria-hidden="true" />
        Stemma
      </h1>
      <button
        class="plain"
        aria-current={isRuns ? 'page' : undefined}
        title="The table of all runs (h)"
        onClick={() => go({ show: isRuns ? 'call' : 'runs' })}
      >
        Runs
      </button>
      {summary !== undefined && !isRuns && (
        <p class="head-what">
          <b>
            <SafeText text={summary.name ?? summary.history} />
          </b>
          {summary.name !== null && <code class="quiet">{summary.history}</code>}
          {summary.branches.length > 1 && (
            <label>
              <span class="quiet">branch</span>{' '}
              <select
                aria-label="branch"
                value={findChosenBranch(summary, chosen)?.branch ?? ''}
                onChange={({ currentTarget }) => choose(currentTarget.value)}
              >
                {summary.branches.map(({ branch, branchId, name }) => (
                  <option key={branch} value={branch}>
                    {visible(branchLabel(branchId, name))}
                  </option>
                ))}
              </select>
            </label>
          )}
          {summary.import !== null && (
            <span class="quiet head-import" title={visible(importSentences(summary.import).join('\n'))}>
              <SafeText text={importLine(summary.import)} />
            </span>
          )}
          {continued !== null && (
            <span
              class="quiet"
              title="Nobody knows: the same agent began anew, or another session has the answers of that one"
            >
              may continue{' '}
              <a href={`?h=${encodeURIComponent(continued.history)}`}>
                <SafeText text={continued.history} />
              </a>
            </span>
          )}
          {caller !== null && (
            <span class="quiet" title={CALLERS[caller.why]}>
              called by{' '}
              <a href={`?h=${encodeURIComponent(caller.history)}`}>
                <SafeText text={caller.history} />
              </a>
            </span>
          )}
        </p>
      )}
      <HeldBadge title={title} go={go} />
      <span
        class={`connection ${state}`}
        role="status"
        title={state === 'live' ? 'New events appear automatically' : 'Reconnecting to the server'}
      >
        {LIVE[state]}
      </span>
      <button class="plain find" onClick={find} title="Search in all histories (/)">
        Search <kbd>/</kbd>
      </button>
      <button class="plain wide-only" onClick={legend} title="What the words mean (l)">
        Legend
      </button>
      <button class="plain" onClick={help} title="Keys (?)" aria-label="Show the keys">
        ?
      </button>
    </header>
  );
};
