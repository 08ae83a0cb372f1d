import { nextSteps, rerunHeadline } from '@stemma/api';
import type { ComponentChildren } from 'preact';
import { addressById } from '../page/chosen.ts';
import { commandLine } from '../parts/command-line.ts';
import { Copy } from '../parts/copy.tsx';
import type { ViewProps } from '../parts/page-view.ts';
import { SafeText } from '../parts/safe-text.tsx';
import { durationWords, grouped, plural, shortTime } from '../parts/words.ts';
import { RerunDifference, WorldDifferences } from './rerun-difference.tsx';
import { callAddress, type RerunOfHistory, type RunsAnswer } from './use-reruns.ts';

type Shown = {
  readonly rerun: RerunOfHistory;
  readonly go: ViewProps['go'];
};

/** What came of one rerun: in a sentence, in numbers, a cell a call; what differs first, and what to ask next. */
export const RerunReport = ({
  rerun,
  runs,
  name,
  go,
}: Shown & { readonly runs: RunsAnswer['runs']; readonly name: string }): ComponentChildren => (
  <>
    <section class="panel rerun-outcome" aria-label="What came of the rerun">
      <Outcome rerun={rerun} runs={runs} />
      <Calls rerun={rerun} go={go} />
    </section>
    <section class="panel rerun-parts" aria-label="What differs first">
      <div>
        <RerunDifference rerun={rerun} go={go} />
        <WorldDifferences rerun={rerun} go={go} />
      </div>
      <div class="rerun-next">
        <Forks rerun={rerun} go={go} />
        <NextSteps rerun={rerun} name={name} />
      </div>
    </section>
  </>
);

const COUNTS = [
  ['same', 'same'],
  ['bound', 'bound'],
  ['differs', 'differs'],
  ['extra', 'extra'],
  ['missing', 'missing'],
  ['live', 'live'],
  ['notKept', 'not kept'],
] as const;

const endWords = ({ exitCode, signal }: RerunOfHistory['end']): string =>
  exitCode === null ? (signal ?? 'not known') : `exit ${exitCode}`;

const Outcome = ({
  rerun,
  runs,
}: {
  readonly rerun: RerunOfHistory;
  readonly runs: RunsAnswer['runs'];
}): ComponentChildren => {
  const { counts, difference, exit, end, of, command, actor, notes, startedAt, endedAt, bindings, check } =
    rerun;
  const run = runs.find((one) => one.run === of) ?? null;
  const recordedEnd = run?.program?.end.exitCode ?? null;
  return (
    <>
      <header>
        <h2>
          <SafeText text={rerunHeadline(counts, difference, exit)} />
        </h2>
        <span class={`badge ${exit === 0 ? 'new' : 'bad'}`}>exit {exit}</span>
      </header>
      <p class="quiet">
        <code>
          <SafeText text={commandLine(command)} />
        </code>{' '}
        · {shortTime(startedAt)}, {durationWords(endedAt - startedAt)} · by <SafeText text={actor} />
        {notes !== '' && (
          <>
            : <SafeText text={notes} />
          </>
        )}{' '}
        · answered by <SafeText text={of === null ? 'calls of no run' : `run ${of}`} />
        {check !== null && (
          <>
            {' · checked by '}
            <code>
              <SafeText text={check.command} />
            </code>
            {`: ${endWords(check.end)}`}
          </>
        )}
        {exit === 1 &&
          (check === null || check.end.exitCode === 0) &&
          ` · the command ended with ${endWords(end)}, recorded: ${recordedEnd ?? 'not known'}`}
      </p>
      <ul class="rerun-counts">
        {COUNTS.filter(([key]) => counts[key] > 0 || key === 'same').map(([key, words]) => (
          <li key={key} class={`how-${key}`}>
            <b>{grouped(counts[key])}</b> {words}
            {key === 'same' && counts.otherOrder > 0 && ` (${counts.otherOrder} in another order)`}
          </li>
        ))}
      </ul>
      {bindings.length > 0 && (
        <p class="quiet">
          Bound:{' '}
          {bindings.map(({ kind, count }, i) => (
            <span key={kind}>
              {i > 0 && ', '}
              {grouped(count)} × <SafeText text={kind} />
            </span>
          ))}
          . Their values are in the report of the command, and not recorded.
        </p>
      )}
    </>
  );
};

/** The sign of each result: never its colour alone. */
const SIGNS: Readonly<Record<string, string>> = {
  same: '=',
  'other order': '=',
  bound: '≈',
  differs: '≠',
  extra: '+',
  missing: '∅',
  live: '→',
  'not kept': '–',
};

const Calls = ({ rerun, go }: Shown): ComponentChildren => {
  const { details, counts } = rerun;
  if (details === null || details.calls.length === 0) return null;
  const all = COUNTS.reduce((sum, [key]) => sum + counts[key], 0);
  return (
    <>
      <ol class="rerun-calls" aria-label="The calls">
        {details.calls.map(({ label, how }, i) => {
          const address = callAddress(label, rerun);
          const inside = (
            <>
              <b>
                <SafeText text={label} />
              </b>
              <span>
                {SIGNS[how] ?? ''} <SafeText text={how} />
              </span>
            </>
          );
          return (
            <li key={i} class={`how-${how.replaceAll(' ', '-')}`}>
              {address === null ? (
                <span class="rerun-call">{inside}</span>
              ) : (
                <button
                  class="rerun-call"
                  title="The recorded call"
                  onClick={() => go({ ...address, show: null })}
                >
                  {inside}
                </button>
              )}
            </li>
          );
        })}
      </ol>
      {all > details.calls.length && (
        <p class="quiet">and {plural(all - details.calls.length, 'call')} more</p>
      )}
    </>
  );
};

const Forks = ({ rerun: { forks, history, branchId }, go }: Shown): ComponentChildren => {
  if (forks.length === 0) return null;
  return (
    <>
      <h3>Live calls</h3>
      <p>What went to the provider is in {plural(forks.length, 'fork')} of the recording:</p>
      <ul>
        {forks.map((fork) => {
          const address = addressById(fork.history, fork.branchId);
          const b = fork.history === history ? String(fork.branchId) : address;
          return (
            <li key={address}>
              <button
                class="link"
                onClick={() => go({ show: 'compare', a: String(branchId), b, part: null })}
              >
                compare it with the recording
              </button>
              <button class="link" onClick={() => go({ history: address, show: null })}>
                open branch {fork.branchId}
              </button>
            </li>
          );
        })}
      </ul>
    </>
  );
};

const NextSteps = ({
  rerun,
  name,
}: {
  readonly rerun: RerunOfHistory;
  readonly name: string;
}): ComponentChildren => {
  const { difference, counts, command } = rerun;
  const start = `stemma rerun ${commandLine([name])}`;
  const words = commandLine(command);
  const steps = nextSteps(counts.differs > 0 ? difference : null, start, true);
  const shown = [
    ...steps.map((step) => ({ question: step.question, line: `${step.words} -- ${words}` })),
    ...(counts.differs > 0
      ? [
          {
            question: 'which calls differ besides the first one?',
            line: `${start} --on-difference serve -- ${words}`,
          },
        ]
      : []),
    { question: 'and now?', line: `${start} -- ${words}` },
  ];
  return (
    <>
      <h3>Go on from here</h3>
      <ul class="rerun-steps">
        {shown.map(({ question, line }) => (
          <li key={line}>
            <p class="quiet">{question}</p>
            <code>
              <SafeText text={line} />
            </code>
            <Copy text={line} words="command" />
          </li>
        ))}
      </ul>
    </>
  );
};
