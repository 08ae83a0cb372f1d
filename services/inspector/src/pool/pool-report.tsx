import { addressOf, ENDPOINTS, firstWords, type BranchNodeAnswer } from '@stemma/api';
import type { ComponentChildren } from 'preact';
import { useState } from 'preact/hooks';
import { addressById, branchLabel } from '../page/chosen.ts';
import { SafeText } from '../parts/safe-text.tsx';
import { Shown } from '../asking/states.tsx';
import { INTERVENTIONS_PAGE } from '../branches/use-branches.ts';
import { useQuery } from '../asking/queries.ts';
import { grouped, shortTime } from '../parts/words.ts';
import type { ViewProps } from '../parts/page-view.ts';
import { Attractors, figure, FigureChart, FIGURES } from './pool-charts.tsx';
import { idsIn, partedAt } from './verdict-arms.ts';
import { printFilter, parseFilter } from './pool-filter.ts';
import { usePoolFigures, type ShownFigures } from './use-pool.ts';

type Props = {
  readonly history: string;
  /** The branches of each arm, as the address has them. */
  readonly a: string;
  readonly b: string;
  readonly of: 'pool' | 'agent';
  readonly branches: readonly BranchNodeAnswer[];
  readonly go: ViewProps['go'];
};

type Side = { readonly look: 'a' | 'b'; readonly branch: string; readonly name: string; readonly id: number };

/** What stands behind a verdict: figures and attractors of the first run of each arm, interventions, and all of it as a file. */
export const PoolReport = ({ history, a, b, of, branches, go }: Props): ComponentChildren => {
  const sideOf = (look: 'a' | 'b', list: string): Side => {
    const id = idsIn(list)[0] ?? 0;
    const name = branchLabel(id, branches.find(({ branchId }) => branchId === id)?.name);
    return { look, branch: addressById(history, id), name, id };
  };
  const [sideA, sideB] = [sideOf('a', a), sideOf('b', b)];
  return (
    <>
      <AsFile history={history} a={a} b={b} />
      {of === 'pool' && (
        <PoolFigures a={sideA} b={sideB} parted={partedAt(branches, sideA.id, sideB.id)} go={go} />
      )}
      <div class="report-pair">
        <Interventions side={sideA} history={history} go={go} />
        <Interventions side={sideB} history={history} go={go} />
      </div>
    </>
  );
};

const AsFile = ({ history, a, b }: Pick<Props, 'history' | 'a' | 'b'>): ComponentChildren => {
  const [[firstA, ...moreA], [firstB, ...moreB]] = [idsIn(a), idsIn(b)];
  const runs = [
    ...(moreA.length === 0 ? [] : [`--runs ${moreA.join(' ')}`]),
    ...(moreB.length === 0 ? [] : [`--runs-b ${moreB.join(' ')}`]),
  ].join(' ');
  return (
    <section class="panel" aria-label="Report as a file">
      <header class="panel-head">
        <h2>As a file</h2>
        <a class="plain" download="report.html" href={addressOf(ENDPOINTS.report, { history, a, b })}>
          Download the report
        </a>
      </header>
      <div class="verdict-body">
        <p class="quiet">
          One page that fetches nothing: the verdict, all below, a map of the messages of both, and a table
          behind each plot. The same by command, and the verdict alone:
        </p>
        <pre>
          ./stemma report <SafeText text={history} /> --branches {firstA},{firstB} -o report.html {runs}
          {'\n'}
          ./stemma verdict <SafeText text={history} /> {firstA} {firstB} {runs}
        </pre>
      </div>
    </section>
  );
};

const PoolFigures = ({
  a,
  b,
  parted,
  go,
}: {
  readonly a: Side;
  readonly b: Side;
  readonly parted: number | null;
  readonly go: ViewProps['go'];
}): ComponentChildren => {
  const [ofA, ofB] = [usePoolFigures(a.branch, undefined), usePoolFigures(b.branch, undefined)];
  const show =
    ({ branch }: Side) =>
    (cluster: number): void =>
      go({
        ...{ history: branch, part: null, a: null, b: null },
        filter: printFilter({ ...parseFilter(''), cluster, colour: 'cluster' }),
      });
  return (
    <Shown query={ofA} what="figures of A">
      {(figuresA) => (
        <Shown query={ofB} what="figures of B">
          {(figuresB) => (
            <>
              <section class="panel" aria-label="Figures over rounds">
                <header class="panel-head">
                  <h2>Figures over rounds</h2>
                  <span class="quiet">
                    <span class="key key-a">A</span> <SafeText text={a.name} />{' '}
                    <span class="key key-b">B</span> <SafeText text={b.name} />
                    {parted !== null && `; they part after round ${grouped(parted)}`}
                  </span>
                </header>
                <div class="verdict-body">
                  <div class="small-charts">
                    {FIGURES.map(([words, meaning, valueOf]) => (
                      <FigureChart
                        key={words}
                        words={words}
                        meaning={meaning}
                        parted={parted}
                        lines={[
                          { look: 'a', points: pointsOf(figuresA, valueOf) },
                          { look: 'b', points: pointsOf(figuresB, valueOf) },
                        ]}
                      />
                    ))}
                  </div>
                  <FigureTable a={figuresA} b={figuresB} />
                </div>
              </section>
              <div class="report-pair">
                <Attractors title="Attractors of A" history={a.branch} metrics={figuresA} show={show(a)} />
                <Attractors title="Attractors of B" history={b.branch} metrics={figuresB} show={show(b)} />
              </div>
            </>
          )}
        </Shown>
      )}
    </Shown>
  );
};

const pointsOf = (
  { snapshots }: ShownFigures,
  valueOf: (typeof FIGURES)[number][2],
): readonly (readonly [number, number | null])[] =>
  snapshots.map((snapshot) => [snapshot.round, valueOf(snapshot)] as const);

/** The same as numbers; made when somebody opens it. */
const FigureTable = ({ a, b }: { readonly a: ShownFigures; readonly b: ShownFigures }): ComponentChildren => {
  const [isOpen, setOpen] = useState(false);
  const byRound = ({ snapshots }: ShownFigures) => new Map(snapshots.map((each) => [each.round, each]));
  const [inA, inB] = [byRound(a), byRound(b)];
  const rounds = isOpen ? [...new Set([...inA.keys(), ...inB.keys()])].sort((x, y) => x - y) : [];
  return (
    <details onToggle={({ currentTarget }) => setOpen(currentTarget.open)}>
      <summary>The same as a table</summary>
      {isOpen && (
        <div class="report-table" tabIndex={0} role="region" aria-label="Figures over rounds, table">
          <table class="verdict-half">
            <thead>
              <tr>
                <th scope="col">round</th>
                {FIGURES.map(([words]) => (
                  <>
                    <th scope="col">{words} A</th>
                    <th scope="col">B</th>
                  </>
                ))}
              </tr>
            </thead>
            <tbody>
              {rounds.map((round) => (
                <tr key={round}>
                  <th scope="row">{grouped(round)}</th>
                  {FIGURES.map(([, , valueOf]) =>
                    [inA.get(round), inB.get(round)].map((each) => (
                      <td>{each === undefined ? '' : figure(valueOf(each))}</td>
                    )),
                  )}
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      )}
    </details>
  );
};

const Interventions = ({
  side: { look, branch, name, id },
  history,
  go,
}: {
  readonly side: Side;
  readonly history: string;
  readonly go: ViewProps['go'];
}): ComponentChildren => {
  const found = useQuery(`now/h/${history}/interventions-of/${id}`, (client) =>
    client.interventions({ history, branch: String(id), limit: INTERVENTIONS_PAGE }),
  );
  const label = `Interventions in ${look.toUpperCase()}`;
  return (
    <section class="panel" aria-label={label}>
      <header class="panel-head">
        <h2>{label}</h2>
        <span class="quiet">
          <SafeText text={name} />
        </span>
      </header>
      <Shown query={found} what="interventions">
        {({ interventions, next }) =>
          interventions.length === 0 ? (
            <p class="note quiet">Nobody intervened on this branch.</p>
          ) : (
            <ul class="report-acts">
              {interventions.map((one) => (
                <li key={one.id}>
                  <button
                    class="link"
                    onClick={() =>
                      go({
                        ...{ show: null, history: branch, side: 'interventions', a: null, b: null },
                        intervention: one.id,
                      })
                    }
                  >
                    {one.intervention_type}
                  </button>{' '}
                  <span class="quiet">
                    <SafeText text={one.actor} />, {shortTime(Date.parse(one.timestamp))}
                  </span>
                  {typeof one.content['text'] === 'string' && (
                    <p>
                      <SafeText text={firstWords(one.content['text'], 300)} />
                    </p>
                  )}
                  {one.notes !== '' && (
                    <p class="act-notes">
                      <SafeText text={one.notes} />
                    </p>
                  )}
                </li>
              ))}
              {next !== null && <li class="quiet">and more: see the interventions of the branch</li>}
            </ul>
          )
        }
      </Shown>
    </section>
  );
};
