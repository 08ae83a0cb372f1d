import {
  abbreviated,
  changedLines,
  nextSteps,
  rerunHeadline,
  shownToText,
  whereItDiffers,
  whyItDiffers,
  type ChangedLine,
  type TextDifference,
} from '@stemma/api';
import { textDifferences } from '@stemma/model-apis';
import {
  describedDifference,
  rerunExit,
  type AgentEnds,
  type Binding,
  type RerunSummary,
  type SummarizedCall,
  type WorldDifference,
} from '@stemma/rerun';
import { html, type Html } from './html.ts';
import { page } from './page.ts';

/** What the page of a rerun shows. */
export type RerunPageReport = {
  /** What answered, as the command named it: a history, a branch or a file. */
  readonly name: string;
  readonly rerun: string;
  /** The run that answered; null: calls of no run. */
  readonly of: string | null;
  /** The words of the command that ran. */
  readonly command: string;
  /** Milliseconds since 1970. */
  readonly startedAt: number;
  readonly endedAt: number;
  readonly ends: AgentEnds;
  readonly summary: RerunSummary;
  /** False: no call can go to its provider, so none is proposed. */
  readonly canGoLive: boolean;
  /** Who recorded a message, in words; null: not known. @param message its number, from 0 */
  readonly recordedBy: (label: string, message: number) => string | null;
  /** The branches with the calls that went to their providers, as `HISTORY:NAME`. */
  readonly forks: readonly string[];
  /** What was learned, in sentences. */
  readonly learned: readonly string[];
};

/** The most calls, differences, lines of a text and values that are shown; the rest is counted. */
const MOST_CALLS = 1_000;
const MOST_DIFFERENCES = 100;
const MOST_LINES = 400;
const MOST_VALUES = 500;

/** What came of running an agent again, as one HTML file: calls, differences with their causes, bound values. No script, and nothing is fetched. */
export const rerunPage = (report: RerunPageReport): string => {
  const { name, rerun, of, command, summary, ends } = report;
  const exit = rerunExit(summary, ends);
  const { calls, counts, world, notes } = summary;
  const first = calls.find(({ how }) => how === 'differs' || how === 'extra') ?? null;
  const cause = first?.difference?.cause ?? 'extra';
  const differing = calls.filter(({ difference }) => difference !== null);
  return page(
    `Rerun of ${name}`,
    html`<main>
      <h1>${rerunHeadline(counts, first === null ? null : { label: first.label, cause }, exit)}</h1>
      <p class="soft">
        ${name} run again with <code>${command}</code>, ${time(report.startedAt)},
        ${report.endedAt - report.startedAt} ms. ${of === null ? null : html`Run <code>${of}</code> answers;`}
        this is <code>${rerun}</code>.
      </p>
      ${totals(summary, exit)} ${endsText(ends)} ${cells(calls)}
      ${differing.slice(0, MOST_DIFFERENCES).map((call) => differencePart(call, report))}
      ${more(differing.length - MOST_DIFFERENCES, 'calls that differ')}
      ${world.slice(0, MOST_DIFFERENCES).map(worldPart)} ${more(world.length - MOST_DIFFERENCES, 'results')}
      ${valuesPart(summary.bindings)} ${sentences('Notes', [...notes, ...report.learned])}
      ${forksPart(report)} ${nextPart(report)}
      <footer>
        A call is the same, bound or different: none is near. Struck through: what was recorded; underlined:
        what came.
      </footer>
    </main>`,
  );
};

const time = (milliseconds: number): string =>
  `${new Date(milliseconds).toISOString().slice(0, 19).replace('T', ' ')}Z`;

const more = (left: number, what: string): Html =>
  left > 0 ? html`<p class="soft">and ${left} more ${what}</p>` : html``;

const totals = ({ counts }: RerunSummary, exit: number): Html => {
  const { same, bound, differs, extra, missing, live, notKept, recorded } = counts;
  const rare = [
    ['extra', extra],
    ['live', live],
    ['not kept', notKept],
  ] as const;
  const told = [
    ['same', same],
    ['bound', bound],
    ['differs', differs],
    ['missing', missing],
    ...rare.filter(([, count]) => count > 0),
  ] as const;
  return html`<p>
    ${told.map(([word, count]) => html`<b>${count}</b> ${word} · `)}of ${recorded} recorded calls · exit
    <b>${exit}</b>
  </p>`;
};

const endsText = ({ recorded, now, check }: AgentEnds): Html => html`
  ${
    recorded === now || recorded === null || now === null
      ? null
      : html`<p>The command ended with ${now}, and when it was recorded with ${recorded}.</p>`
  }
  ${check === null ? null : html`<p>The check of what it left behind ended with ${check}.</p>`}
`;

/** The sign of each result: never its colour alone. */
const SIGNS: Readonly<Record<SummarizedCall['how'], string>> = {
  same: '=',
  'other order': '=',
  bound: '≈',
  differs: '≠',
  extra: '+',
  missing: '∅',
  live: '→',
  'not kept': '–',
};

const cells = (calls: readonly SummarizedCall[]): Html =>
  html`<ol class="calls">
      ${calls.slice(0, MOST_CALLS).map(({ label, how }) => html`<li class="${how.replace(' ', '-')}"><code>${label}</code> <b>${SIGNS[how]} ${how}</b></li>`)}
    </ol>
    ${more(calls.length - MOST_CALLS, 'calls')}`;

const differencePart = (call: SummarizedCall, { recordedBy }: RerunPageReport): Html => {
  const { label, difference, shownTo, ledTo } = call;
  if (difference === null) return html``;
  const { message, a, b } = difference;
  const described = describedDifference(difference);
  const by = message === null || a === null ? null : recordedBy(label, message);
  const [first, last] = [shownTo[0], shownTo.at(-1)];
  return html`<h2>${label} differs</h2>
    <section class="card">
      <p>${whereItDiffers(described)}</p>
      ${textPart(a, b)}
      <dl>
        <dt>cause</dt>
        <dd>${whyItDiffers(described)}</dd>
        ${
          by === null
            ? null
            : html`<dt>recorded by</dt>
                <dd>${by}</dd>`
        }
        ${
          first === undefined || last === undefined || ledTo === null
            ? null
            : html`<dt>shown to</dt>
                <dd>${shownToText(first, last, ledTo)}</dd>`
        }
      </dl>
    </section>`;
};

/** What went and what came, the changed lines each with one around it. */
const textPart = (a: string | null, b: string | null): Html => {
  const lines = changedLines(textDifferences(a ?? '', b ?? ''));
  return html`<div class="changed">${lines.slice(0, MOST_LINES).map(lineOf)}</div>
    ${more(lines.length - MOST_LINES, 'lines')}`;
};

const lineOf = (line: ChangedLine): Html =>
  line.what === 'equal'
    ? html`<div class="soft">… ${line.lines} equal ${line.lines === 1 ? 'line' : 'lines'}</div>`
    : html`<div>${line.parts.map(partOf)}</div>`;

const partOf = ({ kind, text }: TextDifference): Html => {
  // An empty part is a line end that only one text has.
  const shown = text === '' ? '¶' : abbreviated(text);
  if (kind === 'removed') return html`<del>${shown}</del>`;
  return kind === 'added' ? html`<ins>${shown}</ins>` : html`${text}`;
};

const worldPart = ({ call, tool, a, b }: WorldDifference): Html =>
  html`<h2>The world differs at ${call}: ${tool} gave something else</h2>
    <section class="card">
      ${textPart(a, b)}
      <p class="soft">The recorded result stood in its place.</p>
    </section>`;

const valuesPart = (bindings: readonly Binding[]): Html =>
  bindings.length === 0
    ? html``
    : html`<h2>Bound values</h2>
        <div class="scroll card">
          <table>
            <thead>
              <tr>
                <th>kind</th>
                <th>recorded</th>
                <th>now</th>
              </tr>
            </thead>
            <tbody>
              ${bindings.slice(0, MOST_VALUES).map(
                ({ kind, mask, recorded, now }) =>
                  html`<tr>
                    <td>${mask === undefined ? kind : `mask ${mask}`}</td>
                    <td><code>${abbreviated(recorded)}</code></td>
                    <td><code>${abbreviated(now)}</code></td>
                  </tr>`,
              )}
            </tbody>
          </table>
        </div>
        ${more(bindings.length - MOST_VALUES, 'values')}`;

const sentences = (title: string, list: readonly string[]): Html =>
  list.length === 0
    ? html``
    : html`<h2>${title}</h2>
        <ul>
          ${list.map((sentence) => html`<li>${sentence}</li>`)}
        </ul>`;

const forksPart = ({ name, forks }: RerunPageReport): Html =>
  forks.length === 0
    ? html``
    : html`<h2>Live calls</h2>
        ${forks.map(
          (fork) =>
            html`<p>in the fork <b>${fork}</b></p>
              <pre>stemma compare ${name} ${fork}</pre>`,
        )}`;

const nextPart = ({ name, command, summary, canGoLive }: RerunPageReport): Html => {
  const first = summary.calls.find(({ how }) => how === 'differs')?.difference ?? null;
  const steps = nextSteps(
    first && { label: first.of, cause: first.cause },
    `stemma rerun ${name}`,
    canGoLive,
  );
  return steps.length === 0
    ? html``
    : html`<h2>Go on from here</h2>
        ${steps.map(
          ({ words, question }) =>
            html`<p>${question}</p>
              <pre>${words} -- ${command}</pre>`,
        )}`;
};
