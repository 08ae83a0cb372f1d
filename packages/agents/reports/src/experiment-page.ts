import type { MeasuredDifference, RunVerdict, VerdictPart } from '@stemma/analysis';
import type { Intervention, PoolMetrics } from '@stemma/queries';
import { html, type Html } from './html.ts';
import { page } from './page.ts';
import { intervalPlot, barPlot, linePlot, mapPlot, shortNumber, type MapPoint } from './plots.ts';

type Snapshot = PoolMetrics['now'];

/** A branch of a report. */
export type ReportedBranch = {
  readonly name: string;
  /** At every snapshot on its way; null: it is no pool. */
  readonly snapshots: readonly Snapshot[] | null;
  readonly interventions: readonly Intervention[];
  /** The texts that representatives of its attractors have, by node. */
  readonly texts: ReadonlyMap<string, string>;
};

/** A text on the map. */
export type ReportedText = MapPoint & { readonly round: number | null };

/** What the report of an experiment shows. */
export type ExperimentReport = {
  readonly history: string;
  readonly a: ReportedBranch;
  readonly b: ReportedBranch;
  /** The newest round that both have; null: they part before the first. */
  readonly parted: number | null;
  readonly verdict: RunVerdict;
  readonly map: readonly ReportedText[];
  /** Texts that are not on the map, as there are too many. */
  readonly unmapped: number;
  /** What makes the report again. */
  readonly command: string;
};

/** The most rows of a table: the rest is counted. */
const MOST_ROWS = 2_000;

/** Two branches of an experiment as one HTML file: figures, map, attractors, tests, interventions. No script, and nothing is fetched. */
export const experimentPage = (report: ExperimentReport): string => {
  const { history, a, b, command } = report;
  const title = `${history}: ${a.name} and ${b.name}`;
  return page(
    title,
    html`<main>
      <h1>${title}</h1>
      <p><span class="key a">A</span> ${a.name} <span class="key b">B</span> ${b.name}</p>
      ${verdictPart(report)} ${figures(report)} ${attractors(report)} ${map(report)} ${interventions(report)}
      <h2>Again</h2>
      <p>This command makes the same report from the same history:</p>
      <pre>${command}</pre>
      <footer>
        Dashed lines: where the branches part, or the size of difference that a verdict asks for.
      </footer>
    </main>`,
  );
};

const WORDS: Readonly<Record<RunVerdict['verdict'], string>> = {
  'decisions differ': 'Other things are chosen. That they are also told otherwise is not shown.',
  'only the telling differs': 'The same is chosen, and told otherwise.',
  both: 'Other things are chosen, and the same things are told otherwise.',
  neither: 'Differences of the sizes that are asked for would have been seen; there are none.',
  'cannot tell': 'The data do not tell.',
};

const inTable = (head: readonly string[], rows: readonly (readonly string[])[]): Html =>
  html`<div class="scroll">
    <table>
      <thead>
        <tr>
          ${head.map((cell) => html`<th>${cell}</th>`)}
        </tr>
      </thead>
      <tbody>
        ${rows.slice(0, MOST_ROWS).map(
          (cells) =>
            html`<tr>
              ${cells.map((cell) => html`<td>${cell}</td>`)}
            </tr>`,
        )}
      </tbody>
    </table>
    ${rows.length > MOST_ROWS ? html`<p class="soft">and ${rows.length - MOST_ROWS} more</p>` : null}
  </div>`;

/** The table behind a plot, which opens on request. */
const behind = (head: readonly string[], rows: readonly (readonly string[])[]): Html =>
  html`<details>
    <summary>Table</summary>
    ${inTable(head, rows)}
  </details>`;

const verdictPart = ({ verdict }: ExperimentReport): Html => {
  const { decisions, telling, a, b, units, isJudged, permutations, seed } = verdict;
  const size = (arm: RunVerdict['a']): string =>
    `${arm.runs} ${arm.runs === 1 ? 'run' : 'runs'} of ${arm.steps} steps in all`;
  return html`<h2>Verdict: ${verdict.verdict}</h2>
    <p>${WORDS[verdict.verdict]}</p>
    <p class="soft">A: ${size(a)}. B: ${size(b)}. ${permutations} permutations of ${units}, seed ${seed}.</p>
    ${isJudged ? null : html`<p>The arms have too few runs: what differs may be what chance makes of one run. At least ${decisions.needed ?? 0} runs in each are needed.</p>`}
    <div class="pair">
      ${half('Decisions', 'the share of choices that differ', decisions, 'a')}
      ${half('Telling', 'the share of how texts about the same vary that the arm explains', telling, 'b')}
    </div>`;
};

const half = (name: string, what: string, part: VerdictPart, look: 'a' | 'b'): Html => {
  const shown = part.differences.flatMap(({ name: of, effect, interval }) =>
    effect === null || interval === null ? [] : [{ name: of, look, value: effect, ...interval }],
  );
  return html`<section class="card">
    <h3>
      ${name}:
      ${part.p === null ? 'nothing to compare' : part.isDifferent ? 'different' : 'no difference is shown'}
    </h3>
    <p class="soft">Effect: ${what}, with its interval of 95 %.</p>
    ${intervalPlot(`${name}: effects with intervals`, shown, [part.size])}
    <p>
      p of all together: ${part.p === null ? 'none' : shortNumber(part.p)}. Power for an effect of
      ${shortNumber(part.size)}:
      ${shortNumber(part.power)}.${part.needed === null ? '' : ` Runs in each arm for a power of 0.8: ${part.needed}.`}
    </p>
    ${behind(['in what', 'effect', 'from', 'to', 'p'], part.differences.map(differenceRow))}
  </section>`;
};

const orNone = (value: number | null): string => (value === null ? '–' : shortNumber(value));

const differenceRow = ({ name, effect, interval, p }: MeasuredDifference): readonly string[] => [
  name,
  orNone(effect),
  orNone(interval?.low ?? null),
  orNone(interval?.high ?? null),
  orNone(p),
];

const FIGURES: readonly (readonly [name: string, of: (snapshot: Snapshot) => number | null])[] = [
  ['diversity', ({ diversity }) => diversity],
  ['distance from the seed messages', ({ seedDistance }) => seedDistance],
  ['similarity of what was added', ({ similarity }) => similarity],
  ['different texts', ({ texts }) => texts],
  ['messages', ({ messages }) => messages],
  ['attractors', ({ attractors: found }) => found?.length ?? null],
];

const figures = ({ a, b, parted }: ExperimentReport): Html => {
  const [ofA, ofB] = [a.snapshots, b.snapshots];
  if (ofA === null || ofB === null)
    return html`<p class="soft">The history is no pool: it has no figures of rounds.</p>`;
  return html`<h2>Figures over rounds</h2>
    <div class="pair">
      ${FIGURES.map(
        ([name, of]) =>
          html`<section class="card">
            <h3>${name}</h3>
            ${linePlot(
              `${name} over rounds`,
              [
                { name: a.name, look: 'a', points: ofA.map((each) => [each.round, of(each)] as const) },
                { name: b.name, look: 'b', points: ofB.map((each) => [each.round, of(each)] as const) },
              ],
              parted,
            )}
            ${behind(['round', 'A', 'B'], byRound(ofA, ofB, of))}
          </section>`,
      )}
    </div>`;
};

const byRound = (
  a: readonly Snapshot[],
  b: readonly Snapshot[],
  of: (snapshot: Snapshot) => number | null,
): readonly (readonly string[])[] => {
  const valuesOf = (snapshots: readonly Snapshot[]) =>
    new Map(snapshots.map((each) => [each.round, of(each)]));
  const [ofA, ofB] = [valuesOf(a), valuesOf(b)];
  const rounds = [...new Set([...ofA.keys(), ...ofB.keys()])].sort((left, right) => left - right);
  return rounds.map((round) => [
    String(round),
    orNone(ofA.get(round) ?? null),
    orNone(ofB.get(round) ?? null),
  ]);
};

const attractors = ({ a, b, parted }: ExperimentReport): Html => {
  if (a.snapshots === null || b.snapshots === null) return html``;
  return html`<h2>Attractors over time</h2>
    <div class="pair">
      ${attractorsOf(a, a.snapshots, 'a', parted)} ${attractorsOf(b, b.snapshots, 'b', parted)}
    </div>`;
};

const attractorsOf = (
  { name, texts }: ReportedBranch,
  snapshots: readonly Snapshot[],
  look: 'a' | 'b',
  parted: number | null,
): Html => {
  const series = new Map<number, { sizes: (readonly [number, number])[]; text: string; most: number }>();
  for (const { round, attractors: found } of snapshots)
    for (const { identity, size, representative } of found ?? []) {
      const one = series.get(identity) ?? { sizes: [], text: '', most: 0 };
      series.set(identity, one);
      one.sizes.push([round, size]);
      one.most = Math.max(one.most, size);
      one.text = texts.get(representative) ?? '';
    }
  const ordered = [...series].sort(([left], [right]) => left - right);
  return html`<section class="card">
    <h3><span class="key ${look}">${look.toUpperCase()}</span> ${name}</h3>
    ${barPlot(
      `attractors of ${name} over rounds`,
      ordered.map(([identity, { sizes }]) => ({ name: String(identity), sizes })),
      look,
      parted,
    )}
    ${behind(
      ['attractor', 'rounds', 'largest', 'most typical message'],
      ordered.map(([identity, { sizes, most, text }]) => [
        String(identity),
        `${sizes[0]?.[0] ?? 0}–${sizes.at(-1)?.[0] ?? 0}`,
        String(most),
        text,
      ]),
    )}
  </section>`;
};

const map = ({ map: points, unmapped }: ExperimentReport): Html =>
  points.length === 0
    ? html``
    : html`<h2>Map of the messages</h2>
        <section class="card">
          <p class="soft">
            What is near is alike; distances between groups mean nothing. Circles: A. Squares: B. Small dots:
            before the branches part.${unmapped > 0 ? ` ${unmapped} older texts are left out.` : ''}
          </p>
          ${mapPlot('map of the messages', points)}
          ${behind(
            ['of', 'round', 'x', 'y', 'text'],
            points.map(({ look, round, x, y, text }) => [
              look === 'shared' ? 'both' : look.toUpperCase(),
              round === null ? '–' : String(round),
              shortNumber(x),
              shortNumber(y),
              text,
            ]),
          )}
        </section>`;

const interventions = ({ a, b }: ExperimentReport): Html =>
  html`<h2>Interventions</h2>
    <div class="pair">
      ${[a, b].map(
        ({ name, interventions: list }, i) =>
          html`<section class="card">
            <h3><span class="key ${i === 0 ? 'a' : 'b'}">${i === 0 ? 'A' : 'B'}</span> ${name}</h3>
            ${list.length === 0 ? html`<p class="soft">none</p>` : null}
            ${list.slice(0, MOST_ROWS).map(
              ({ intervention_type: type, actor, timestamp, notes, content }) =>
                html`<div class="node">
                  <b>${type}</b> <span class="soft">${actor}, ${timestamp}</span>
                  ${typeof content['text'] === 'string' ? html`<pre>${content['text']}</pre>` : null}
                  ${notes === '' ? null : html`<p>Why: <q>${notes}</q></p>`}
                </div>`,
            )}
            ${list.length > MOST_ROWS ? html`<p class="soft">and ${list.length - MOST_ROWS} more</p>` : null}
          </section>`,
      )}
    </div>`;
