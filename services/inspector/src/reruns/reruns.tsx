import { causeWords } from '@stemma/api';
import type { ComponentChildren } from 'preact';
import { Shown } from '../asking/states.tsx';
import { isChosen } from '../page/chosen.ts';
import { useHistories } from '../page/histories.tsx';
import { commandLine } from '../parts/command-line.ts';
import type { PageView, ViewProps } from '../parts/page-view.ts';
import { SafeText, visible } from '../parts/safe-text.tsx';
import { isoTime, plural, shortTime } from '../parts/words.ts';
import '../style/reruns.css';
import { RerunReport } from './rerun-report.tsx';
import { useReruns, type RerunOfHistory, type RunsAnswer } from './use-reruns.ts';

/** The reruns of a history: which were made, and what came of one. */
export const View: PageView = ({ address, go }) => {
  const histories = useHistories(1);
  const list = histories.state === 'done' ? histories.value.histories : [];
  const name = list.find((one) => isChosen(one, address.history))?.name ?? address.history;
  return (
    <div class="reruns view-scroll">
      <Shown query={useReruns(address.history)} what="reruns">
        {(answer) =>
          answer.reruns.length === 0 ? (
            <NoReruns answer={answer} name={name} />
          ) : (
            <Reruns answer={answer} name={name} chosen={address.filter} go={go} />
          )
        }
      </Shown>
    </div>
  );
};

const NoReruns = ({
  answer: { runs },
  name,
}: {
  readonly answer: RunsAnswer;
  readonly name: string;
}): ComponentChildren => {
  const run = runs.findLast(({ program }) => program !== null);
  return (
    <div class="note">
      <h2>This agent was not run again yet.</h2>
      <p>
        A rerun starts the recorded agent once more and answers its calls from the record: no key, no network,
        no tokens. Where it parts from the recording, this page shows the first message that differs, the
        cause and what hung on it.
      </p>
      {runs.length === 0 && (
        <p>
          No run of a program is recorded here; calls that were recorded in another way answer a rerun as
          well.
        </p>
      )}
      <pre>
        ./stemma rerun <SafeText text={name} />
        {run === undefined && ' -- python agent.py'}
      </pre>
      {run?.program != null && (
        <p class="quiet">
          It starts{' '}
          <code>
            <SafeText text={commandLine(run.program.command)} />
          </code>{' '}
          in{' '}
          <code>
            <SafeText text={run.program.directory} />
          </code>
          . Another command stands after <code>--</code>.
        </p>
      )}
    </div>
  );
};

const Reruns = ({
  answer,
  name,
  chosen,
  go,
}: {
  readonly answer: RunsAnswer;
  readonly name: string;
  readonly chosen: string | null;
  readonly go: ViewProps['go'];
}): ComponentChildren => {
  const reruns = answer.reruns.toReversed();
  const shown = reruns.find(({ rerun }) => rerun === chosen) ?? reruns[0];
  if (shown === undefined) return null;
  const more = answer.total.reruns - reruns.length;
  return (
    <>
      <RerunReport key={shown.rerun} rerun={shown} runs={answer.runs} name={name} go={go} />
      <nav class="panel rerun-list" aria-label="Reruns">
        <header class="panel-head">
          <h2>{plural(answer.total.reruns, 'rerun')}, the newest first</h2>
        </header>
        <ul>
          {reruns.map((one) => (
            <li key={one.rerun}>
              <button
                class="rerun-row"
                aria-current={one === shown ? 'true' : undefined}
                title={`${isoTime(one.endedAt)}\n${visible(one.rerun)}`}
                onClick={() => go({ filter: one.rerun })}
              >
                <span class={`badge ${one.exit === 0 ? 'new' : 'bad'}`}>exit {one.exit}</span>
                <time dateTime={isoTime(one.endedAt)}>{shortTime(one.endedAt)}</time>
                <span>{firstWords(one)}</span>
                <span class="quiet rerun-of">
                  <SafeText text={one.of === null ? 'calls of no run' : `run ${one.of}`} />
                  {', '}
                  <SafeText text={one.notes === '' ? one.actor : `${one.actor}: ${one.notes}`} />
                </span>
              </button>
            </li>
          ))}
        </ul>
        {more > 0 && (
          <p class="side-facts quiet">
            and {plural(more, 'older one')}: <code>stemma calls --runs</code> lists them
          </p>
        )}
      </nav>
    </>
  );
};

const firstWords = ({ difference, counts }: RerunOfHistory): ComponentChildren =>
  difference === null ? (
    plural(counts.same + counts.bound, 'call') +
    (counts.bound > 0 ? ' the same but for bound values' : ' the same')
  ) : (
    <>
      <b>
        <SafeText text={difference.label} />
      </b>{' '}
      <SafeText text={causeWords(difference.cause)} />
    </>
  );
