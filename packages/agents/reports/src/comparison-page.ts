import type { ComparedFrame, ComparedNode, Comparison } from '@stemma/queries';
import { valueText } from '@stemma/api';
import { html, type Html } from './html.ts';
import { page } from './page.ts';

type Side = Comparison['a'];

/** The most nodes of a kind shown on a side; the others are only counted. */
const MOST_NODES = 500;

/** Two positions of a history side by side, as one HTML file. `title` names what was compared. */
export const comparisonPage = (comparison: Comparison, title: string): string =>
  page(
    title,
    html`<main>
      <h1>${title}</h1>
      <p class="soft">History <code>${comparison.history}</code></p>
      ${divergence(comparison)} ${numbers(comparison)} ${differences(comparison)} ${requests(comparison)}
      <h2>${comparison.mergeBase === null ? 'What only one has' : 'What each has done since'}</h2>
      <div class="pair">
        ${side('A', comparison.a, new Set(comparison.alike.map(({ a }) => a)))}
        ${side('B', comparison.b, new Set(comparison.alike.map(({ b }) => b)))}
      </div>
      ${cycles(comparison)}
      <footer>
        Tokens are counted with ${comparison.encoding}, over the contents that the provider thread shows. A
        dashed edge: the other side has a block of the same content under another id.
      </footer>
    </main>`,
  );

const divergence = ({ relation, mergeBase, divergedBy, b }: Comparison): Html => {
  if (mergeBase === null) return html`<p>B is of another history, <code>${b.position.history}</code>.</p>`;
  const at = `${mergeBase.position.label} of branch ${mergeBase.position.branchId}`;
  if (relation === 'same') return html`<p>Both are the same position, ${at}.</p>`;
  if (relation === 'a-before-b')
    return html`<p>B continues from A, ${at}; the branches have not diverged.</p>`;
  if (relation === 'b-before-a')
    return html`<p>A continues from B, ${at}; the branches have not diverged.</p>`;
  return html`<p>They are the same up to ${at}.</p>
    ${divergedBy === null ? null : html`<p>${divergedBy.side.toUpperCase()} diverged by a <b>${divergedBy.how}</b> in frame ${divergedBy.seq}, ${by(divergedBy)}${why(divergedBy)}</p>`}`;
};

/** The messages that the model is shown on one side only, with the interventions that made them differ. */
const differences = ({ relation, threads }: Comparison): Html => {
  if (relation !== 'diverged' && relation !== 'apart') return html``;
  const { same, differences: list, since } = threads;
  return html`<h2>What the model is shown</h2>
    <p>
      ${same} messages are the same, ${list.length} differ.
      ${since === null ? null : html`The first call that was shown something else is @c${since}.`}
    </p>
    ${list
      .slice(0, MOST_NODES)
      .map(
        ({ a, b, causes, after }) =>
          html`<section class="card">
            ${a.map((node) => entry('removed', 'A', node, false))}
            ${b.map((node) => entry('added', 'B', node, false))}
            ${causes.map(({ side, how, frame }) => html`<p>${how} in ${side.toUpperCase()}, frame ${frame.seq}, ${by(frame)}${why(frame)}</p>`)}
            ${after === null ? null : html`<p class="soft">Recorded after @c${after}.</p>`}
          </section>`,
      )}
    ${list.length > MOST_NODES ? html`<p class="soft">and ${list.length - MOST_NODES} more</p>` : null}`;
};

/** The tools and parameters that the newest calls of both sides do not share. */
const requests = ({ request }: Comparison): Html =>
  request === null || request.length === 0
    ? html``
    : html`<h2>What else is asked of it</h2>
        <ul>
          ${request.map(
            ({ what, name, change, fields }) =>
              html`<li>
                ${what} <code>${name}</code> ${change === 'moved' ? 'at another place' : change}
                ${fields.map(({ path, before, after }) => html`<br />${path === '' ? null : html`<code>${path}</code>: `}${valueText(before) ?? 'nothing'} → ${valueText(after) ?? 'nothing'}`)}
              </li>`,
          )}
        </ul>`;

const by = ({ author, at }: ComparedFrame): string =>
  `${'actor' in author ? `by ${author.actor}` : `recorded by ${author.recorder}`}, ${time(at)}`;

/** Notes as they were written; a full stop where there are none. */
const why = ({ intervention }: ComparedFrame): Html =>
  intervention === null || intervention.notes === '' ? html`.` : html`: <q>${intervention.notes}</q>`;

const time = (milliseconds: number): string => {
  const date = new Date(milliseconds);
  return Number.isNaN(date.getTime()) ? String(milliseconds) : date.toISOString();
};

const ROWS: readonly (readonly [string, (side: Side) => number])[] = [
  ['tokens shown to the model', (side) => side.tokens],
  ['blocks shown', (side) => side.shown],
  ['nodes', (side) => side.nodes],
  ['blocks', (side) => side.blocks],
  ['turns', (side) => side.turns],
  ['frames since the merge base', (side) => side.frames],
  ['interventions since', (side) => side.interventions],
  ['added since', (side) => side.added.length],
  ['removed since', (side) => side.removed.length],
  ['changed since', (side) => side.changed.length],
];

const numbers = ({ mergeBase, a, b }: Comparison): Html => {
  const none = {
    frames: 0,
    interventions: 0,
    added: [],
    removed: [],
    changed: [],
    first: null,
    interventionFrames: [],
  };
  const sides: readonly Side[] = [...(mergeBase === null ? [] : [{ ...mergeBase, ...none }]), a, b];
  const positionText = ({ position }: Side): string => `${position.label} of branch ${position.branchId}`;
  return html`<h2>Side by side</h2>
    <div class="scroll card">
      <table>
        <thead>
          <tr>
            <th></th>
            ${mergeBase === null ? null : html`<th class="n">merge base</th>`}
            <th class="n">A</th>
            <th class="n">B</th>
            <th class="n">B − A</th>
          </tr>
        </thead>
        <tbody>
          <tr>
            <td>position</td>
            ${sides.map((each) => html`<td class="n">${positionText(each)}</td>`)}
            <td></td>
          </tr>
          ${ROWS.map(
            ([name, count]) =>
              html`<tr>
                <td>${name}</td>
                ${sides.map((each) => html`<td class="n">${count(each)}</td>`)}
                <td class="n">${signed(count(b) - count(a))}</td>
              </tr> `,
          )}
        </tbody>
      </table>
    </div>`;
};

const signed = (number: number): string => (number > 0 ? `+${number}` : String(number));

const side = (name: string, given: Side, twins: ReadonlySet<string>): Html => {
  const {
    position,
    first,
    interventionFrames: frameSummaries,
    interventions,
    added,
    removed,
    changed,
  } = given;
  const kinds = [
    ['added', '+', added],
    ['removed', '−', removed],
    ['changed', '~', changed],
  ] as const;
  return html`<section class="card">
    <h3>${name}: ${position.label} of branch ${position.branchId}</h3>
    ${first === null ? html`<p class="soft">Nothing: it is the merge base.</p>` : html`<p class="soft">Begins with frame ${first.seq}, ${by(first)}.</p>`}
    ${frameSummaries.map((frame) => html`<p>Frame ${frame.seq}: <b>${frame.intervention?.type ?? 'intervention'}</b> ${by(frame)}${why(frame)}</p>`)}
    ${interventions > frameSummaries.length ? html`<p class="soft">and ${interventions - frameSummaries.length} more interventions</p>` : null}
    ${kinds.map(([kind, sign, nodes]) => list(kind, sign, nodes, twins))}
  </section>`;
};

const list = (
  kind: string,
  sign: string,
  nodes: readonly (ComparedNode & { readonly fields?: readonly string[] })[],
  twins: ReadonlySet<string>,
): Html =>
  nodes.length === 0
    ? html``
    : html`<h3>${nodes.length} ${kind}</h3>
        ${nodes.slice(0, MOST_NODES).map((node) => entry(kind, sign, node, twins.has(node.id)))}
        ${nodes.length > MOST_NODES ? html`<p class="soft">and ${nodes.length - MOST_NODES} more</p>` : null}`;

const entry = (
  kind: string,
  sign: string,
  node: ComparedNode & { readonly fields?: readonly string[] },
  twin: boolean,
): Html => {
  const { id, nodeType, role, kind: type, tokens, excerpt, characters, fields } = node;
  const what = [role, type, nodeType, tokens === null ? null : `${tokens} tokens`, fields?.join(', ')];
  return html`<div class="node ${kind}${twin ? ' alike' : ''}">
    <b>${sign}</b> <code>${id}</code>
    <span class="soft"
      >${what.filter((word) => word !== null && word !== undefined && word !== '').join(' · ')}</span
    >
    ${excerpt === null || excerpt === '' ? null : html`<pre>${excerpt}${characters > excerpt.length ? ` … (${characters} characters)` : ''}</pre>`}
  </div> `;
};

const cycles = ({ cycles: list, moreCycles }: Comparison): Html => {
  if (list.length === 0) return html``;
  const cells = (counts: Comparison['cycles'][number]['a']): Html =>
    counts === null
      ? html`<td class="n"></td>
          <td class="n"></td>`
      : html`<td class="n">@s${counts.seq}</td>
          <td class="n">${counts.blocks}</td>`;
  return html`<h2>Cycle by cycle</h2>
    <div class="scroll card">
      <table>
        <thead>
          <tr>
            <th class="n">cycle</th>
            <th class="n">A</th>
            <th class="n">blocks</th>
            <th class="n">B</th>
            <th class="n">blocks</th>
            <th>sent to the model</th>
          </tr>
        </thead>
        <tbody>
          ${list.map(
            ({ cycle, a, b, same }) =>
              html`<tr>
                <td class="n">${cycle}</td>
                ${cells(a)}${cells(b)}
                <td>${a === null || b === null ? 'on one side only' : same ? 'the same' : 'different'}</td>
              </tr> `,
          )}
        </tbody>
      </table>
    </div>
    ${moreCycles > 0 ? html`<p class="soft">and ${moreCycles} more cycles</p>` : null}`;
};
