import type { AnswerOf, BranchNodeAnswer, Endpoints } from '@stemma/api';
import type { ComponentChildren } from 'preact';
import { useState } from 'preact/hooks';
import { addressById, branchLabel } from '../page/chosen.ts';
import { SafeText } from '../parts/safe-text.tsx';
import { Shown } from '../asking/states.tsx';
import { useBranches } from '../branches/use-branches.ts';
import { useQuery } from '../asking/queries.ts';
import { plural } from '../parts/words.ts';
import type { ViewProps } from '../parts/page-view.ts';
import { PoolReport } from './pool-report.tsx';
import { idsIn } from './verdict-arms.ts';

type Verdict = AnswerOf<Endpoints['verdict']>;
type Half = Verdict['decisions'];
type Arm = 'a' | 'b';

/** Whether two arms of branches decide differently or only tell it differently. */
export const PoolVerdict = ({ address, go }: ViewProps): ComponentChildren => {
  const { history } = address;
  const root = history.replace(/:[^:]*$/, '');
  const branches = useBranches(root);
  return (
    <Shown query={branches} what="branches">
      {(found) =>
        found.branches.length < 2 ? (
          <div class="note">
            <p>
              A verdict compares branches, and this pool has one. This forks it with another seed and runs
              both:
            </p>
            <pre>
              ./stemma fork <SafeText text={root} /> --name again && ./stemma config set{' '}
              <SafeText text={root} />
              :again seed=8{'\n'}
              ./stemma run <SafeText text={root} /> --rounds 20 && ./stemma run <SafeText text={root} />
              :again --rounds 20
            </pre>
          </div>
        ) : (
          <div class="pool-verdict">
            <Arms
              key={`${address.a ?? ''} ${address.b ?? ''}`}
              branches={found.branches}
              a={idsIn(address.a)}
              b={idsIn(address.b)}
              ask={(a, b) => go({ a: a.join(','), b: b.join(',') })}
            />
            {idsIn(address.a).length > 0 && idsIn(address.b).length > 0 && (
              <Found
                history={root}
                a={address.a ?? ''}
                b={address.b ?? ''}
                branches={found.branches}
                go={go}
              />
            )}
          </div>
        )
      }
    </Shown>
  );
};

const Arms = ({
  branches,
  a,
  b,
  ask,
}: {
  readonly branches: readonly BranchNodeAnswer[];
  readonly a: readonly number[];
  readonly b: readonly number[];
  readonly ask: (a: readonly number[], b: readonly number[]) => void;
}): ComponentChildren => {
  const [arms, setArms] = useState<ReadonlyMap<number, Arm>>(
    () => new Map([...a.map((id) => [id, 'a'] as const), ...b.map((id) => [id, 'b'] as const)]),
  );
  const idsOf = (arm: Arm): readonly number[] =>
    [...arms].flatMap(([id, of]) => (of === arm ? [id] : [])).sort((x, y) => x - y);
  const isReady = idsOf('a').length > 0 && idsOf('b').length > 0;
  return (
    <section class="panel" aria-label="Arms">
      <header class="panel-head">
        <h2>Arms</h2>
        <span class="quiet">each branch is a run; four runs in each arm at least are judged</span>
      </header>
      <form
        class="verdict-arms"
        onSubmit={(event) => {
          event.preventDefault();
          if (isReady) ask(idsOf('a'), idsOf('b'));
        }}
      >
        <table>
          <thead>
            <tr>
              <th scope="col">branch</th>
              <th scope="col">A</th>
              <th scope="col">B</th>
              <th scope="col">neither</th>
            </tr>
          </thead>
          <tbody>
            {branches.map(({ branchId, name }) => (
              <tr key={branchId}>
                <th scope="row">
                  <SafeText text={branchLabel(branchId, name)} />
                </th>
                {(['a', 'b', null] as const).map((arm) => (
                  <td key={arm}>
                    <input
                      type="radio"
                      name={`arm-${branchId}`}
                      aria-label={arm === null ? 'neither' : `arm ${arm.toUpperCase()}`}
                      checked={(arms.get(branchId) ?? null) === arm}
                      onChange={() => {
                        const next = new Map(arms);
                        if (arm === null) next.delete(branchId);
                        else next.set(branchId, arm);
                        setArms(next);
                      }}
                    />
                  </td>
                ))}
              </tr>
            ))}
          </tbody>
        </table>
        <button class="plain" disabled={!isReady}>
          Compute the verdict
        </button>
      </form>
    </section>
  );
};

const Found = ({
  history,
  a,
  b,
  branches,
  go,
}: {
  readonly history: string;
  readonly a: string;
  readonly b: string;
  readonly branches: readonly BranchNodeAnswer[];
  readonly go: ViewProps['go'];
}): ComponentChildren => {
  const found = useQuery(`now/h/${addressById(history, 0)}/verdict/${a}/${b}`, (client) =>
    client.verdict({ history, a, b }),
  );
  return (
    <Shown query={found} what="verdict: the arms are divided at random many times">
      {(verdict) => (
        <>
          <section class="panel" aria-label="Verdict">
            <header class="panel-head">
              <h2 class="verdict-word">{verdict.verdict}</h2>
              <span class="quiet">
                A: {plural(verdict.a.runs, 'run')}, {stepsOf(verdict, 'a')} · B:{' '}
                {plural(verdict.b.runs, 'run')}, {stepsOf(verdict, 'b')}
              </span>
            </header>
            <div class="verdict-body" tabIndex={0} role="region" aria-label="Verdict, content">
              <p>
                {MEANINGS[verdict.verdict]} {neededFor(verdict)}
              </p>
              {!verdict.judged && <MoreRuns history={history} />}
              <HalfTable name="Decisions" half={verdict.decisions} verdict={verdict} />
              <HalfTable name="Telling" half={verdict.telling} verdict={verdict} />
              <Limits verdict={verdict} />
            </div>
          </section>
          <PoolReport history={history} a={a} b={b} of={verdict.of} branches={branches} go={go} />
        </>
      )}
    </Shown>
  );
};

const MEANINGS: Readonly<Record<Verdict['verdict'], string>> = {
  'decisions differ': 'Other things are chosen. That they are also told otherwise is not shown.',
  'only the telling differs': 'The same is chosen, and told otherwise.',
  both: 'Other things are chosen, and the same things are told otherwise.',
  neither: 'Differences of the sizes that are asked for would have been seen; there are none.',
  'cannot tell': 'The data do not tell.',
};

/** Why nothing can be told, and what would be needed. */
const neededFor = ({ verdict, judged, decisions, telling, units }: Verdict): string => {
  if (!judged)
    return `The arms have too few runs: what differs here may be what chance makes of one run. ${plural(decisions.needed ?? 0, 'run')} in each arm are needed at least.`;
  if (verdict !== 'cannot tell') return '';
  const [ofDecisions, ofTelling] = [decisions.needed, telling.needed];
  return ofDecisions === null || ofTelling === null
    ? 'There is too little to tell: the arms need more runs, or longer ones.'
    : `There is too little to tell: about ${plural(Math.max(ofDecisions, ofTelling), units === 'runs' ? 'run' : 'piece')} in each arm would do.`;
};

const MoreRuns = ({ history }: { readonly history: string }): ComponentChildren => (
  <div>
    <p class="quiet">
      One more run of an arm is a fork with another seed, from where the arms part; then choose it above:
    </p>
    <pre>
      ./stemma fork <SafeText text={history} /> --name a2 && ./stemma config set <SafeText text={history} />
      :a2 seed=9 && ./stemma run <SafeText text={history} />
      :a2 --rounds 20
    </pre>
  </div>
);

/** What the verdict rests on, and what it does not say. */
const Limits = ({ verdict }: { readonly verdict: Verdict }): ComponentChildren => {
  const { permutations, units, seed, alpha, decisions, telling } = verdict;
  return (
    <details class="verdict-limits">
      <summary>What this rests on, and its limits</summary>
      <ul>
        <li>
          Effect: of decisions the share that differs; of telling the share of how texts about the same vary
          that the arm explains.
        </li>
        <li>
          p: in how many of {plural(permutations, 'random division')} of {units} (seed {seed}) the arms are as
          far apart as they are. The same question has the same answer.
        </li>
        <li>
          Each half is called different at p ≤ {alpha / 2}: so at most {100 * alpha} % of experiments in which
          nothing differs are called different. <code>pnpm bench verdict</code> counts it in simulated ones.
        </li>
        <li>
          It asks for an effect of {decisions.size} of decisions and of {telling.size} of telling (the dashed
          lines). Smaller ones may be there and not be seen.
        </li>
        {units === 'runs' && (
          <li>
            Runs are divided, not their {verdict.of === 'pool' ? 'rounds' : 'calls'}: what a run began with,
            it holds to. With fewer than four runs in an arm nothing is judged.
          </li>
        )}
        <li>Wording is compared of texts about the same choice only, by the vectors of the pool.</li>
      </ul>
    </details>
  );
};

const stepsOf = (verdict: Verdict, arm: Arm): string =>
  plural(verdict[arm].steps, verdict.of === 'pool' ? 'round' : 'call');

const number = (value: number | null): string => (value === null ? '–' : value.toFixed(3));

const HalfTable = ({
  name,
  half,
  verdict,
}: {
  readonly name: string;
  readonly half: Half;
  readonly verdict: Verdict;
}): ComponentChildren => (
  <table class="verdict-half">
    <caption>
      <b>{name}</b>:{' '}
      {half.p === null
        ? 'nothing that both arms have can be compared'
        : `${verdict.judged ? (half.different ? 'different' : 'no difference is shown') : 'not judged'}; p of all together ${number(half.p)}`}
      {verdict.judged &&
        half.p !== null &&
        `; a difference of ${half.size} would be seen in ${Math.round(half.power * 100)} % of such experiments`}
    </caption>
    <thead>
      <tr>
        <th scope="col">in what</th>
        <th scope="col">effect</th>
        <th scope="col">95 %</th>
        <th scope="col" class="interval-cell">
          from 0 to 1
        </th>
        <th scope="col">p</th>
      </tr>
    </thead>
    <tbody>
      {half.differences.map((each) => (
        <tr key={each.name}>
          <th scope="row">{each.name}</th>
          <td>{number(each.effect)}</td>
          <td>
            {each.interval === null
              ? '–'
              : `${number(each.interval[0] ?? null)} to ${number(each.interval[1] ?? null)}`}
          </td>
          <td class="interval-cell">
            <svg viewBox="0 0 100 12" preserveAspectRatio="none" aria-hidden="true">
              <line class="axis" x1="0" x2="100" y1="6" y2="6" />
              <line class="asked" x1={100 * half.size} x2={100 * half.size} y1="0" y2="12" />
              {each.interval !== null && (
                <line
                  class="interval"
                  x1={100 * (each.interval[0] ?? 0)}
                  x2={100 * (each.interval[1] ?? 0)}
                  y1="6"
                  y2="6"
                />
              )}
              {each.effect !== null && (
                <rect class="effect" x={100 * each.effect - 0.7} y="1" width="1.4" height="10" />
              )}
            </svg>
          </td>
          <td>{number(each.p)}</td>
        </tr>
      ))}
    </tbody>
  </table>
);
