import type { ComponentChildren } from 'preact';
import { KindBadge, RoleBadge } from '../parts/badges.tsx';
import { Content } from '../parts/content.tsx';
import { SafeText } from '../parts/safe-text.tsx';
import type { ViewProps } from '../parts/page-view.ts';
import { Shown } from '../asking/states.tsx';
import { useQuery } from '../asking/queries.ts';
import { plural } from '../parts/words.ts';
import { branchOf, Folded, type ShownComparison } from './comparison-parts.tsx';
import { DiffedText, wordRuns, type WordRun } from '../parts/word-diff.tsx';

type Difference = ShownComparison['threads']['differences'][number];
type Node = Difference['a'][number];
type Go = ViewProps['go'];

/** Differences that are shown without being asked for. */
const FIRST = 200;

/** What the model is shown on both sides, in the order of the thread: the same folded, the rest side by side. */
export const ComparedMessages = ({
  comparison,
  go,
}: {
  readonly comparison: ShownComparison;
  readonly go: Go;
}): ComponentChildren => {
  const { a, threads } = comparison;
  const rows: ComponentChildren[] = [];
  let next = 0;
  const fold = (from: number, count: number): void => {
    if (count > 0)
      rows.push(
        <Folded key={`same ${from}`} words={`${plural(count, 'block')} the same`}>
          {() => <SameBlocks side={a} from={from} count={count} />}
        </Folded>,
      );
  };
  for (const [i, difference] of threads.differences.slice(0, FIRST).entries()) {
    fold(next, difference.at.a - next);
    next = difference.at.a + difference.a.length;
    rows.push(<DifferenceRow key={i} difference={difference} comparison={comparison} go={go} />);
  }
  if (threads.differences.length <= FIRST) fold(next, a.shown - next);
  return (
    <div class="compared">
      <div class="compared-row compared-head" aria-hidden="true">
        <b>A {comparison.a.position.label}</b>
        <b>B {comparison.b.position.label}</b>
      </div>
      {threads.differences.length === 0 && (
        <p class="note">The model is shown the same {plural(threads.same, 'message')} on both sides.</p>
      )}
      {rows}
      {threads.differences.length > FIRST && (
        <p class="note quiet">
          {threads.differences.length - FIRST} more differences: the bytes have them all.
        </p>
      )}
    </div>
  );
};

const WORDS: Readonly<Record<Difference['what'], string>> = {
  'only-a': 'only A is shown it',
  'only-b': 'only B is shown it',
  changed: 'both are shown it, with other words',
};

const DifferenceRow = ({
  difference: { what, a, b, causes, after },
  comparison,
  go,
}: {
  readonly difference: Difference;
  readonly comparison: ShownComparison;
  readonly go: Go;
}): ComponentChildren => {
  const textOf = (nodes: readonly Node[]): string => nodes.map(({ excerpt }) => excerpt ?? '').join('\n');
  const runs = what === 'changed' ? wordRuns(textOf(a), textOf(b)) : null;
  return (
    <article class="compared-difference" aria-label={WORDS[what]}>
      <p class="compared-why">
        <span class={`badge ${what === 'only-a' ? 'gone' : what === 'only-b' ? 'new' : 'changed'}`}>
          {what === 'only-a' ? 'only A' : what === 'only-b' ? 'only B' : 'changed'}
        </span>{' '}
        {causes.map(({ side, how, frame }) => (
          <span key={`${side} ${frame.seq}`}>
            {how} on {side.toUpperCase()} by{' '}
            <button
              class="link"
              onClick={() =>
                go({
                  show: null,
                  history: branchOf(comparison[side]),
                  side: 'interventions',
                  intervention: frame.command,
                })
              }
            >
              <SafeText text={'actor' in frame.author ? frame.author.actor : frame.author.recorder} />
            </button>
            {frame.intervention !== null && frame.intervention.notes !== '' && (
              <>
                : “<SafeText text={frame.intervention.notes} />”
              </>
            )}{' '}
          </span>
        ))}
        {causes.length === 0 && (
          <span class="quiet">
            {after === null ? 'recorded so' : `recorded after cycle ${after}, since which the calls differ`}
          </span>
        )}
      </p>
      <div class="compared-row">
        <Side nodes={a} name="a" runs={runs} comparison={comparison} go={go} />
        <Side nodes={b} name="b" runs={runs} comparison={comparison} go={go} />
      </div>
    </article>
  );
};

const Side = ({
  nodes,
  name,
  runs,
  comparison,
  go,
}: {
  readonly nodes: readonly Node[];
  readonly name: 'a' | 'b';
  readonly runs: readonly WordRun[] | null;
  readonly comparison: ShownComparison;
  readonly go: Go;
}): ComponentChildren => {
  const { position } = comparison[name];
  if (nodes.length === 0) return <div class="compared-side is-empty">not shown in {name.toUpperCase()}</div>;
  const [first] = nodes;
  return (
    <div class={`compared-side is-${name}`}>
      <header>
        <RoleBadge role={first?.role} />
        <KindBadge kind={first?.kind} />
        <button
          class="link"
          title="Show it in its context"
          onClick={() =>
            go({
              show: null,
              history: branchOf(comparison[name]),
              at: position.label,
              node: first?.id ?? null,
            })
          }
        >
          <SafeText text={nodes.map(({ id }) => id).join(', ')} />
        </button>
      </header>
      {runs === null ? (
        nodes.map(({ id, excerpt, characters }) => (
          <Content
            key={id}
            content={{
              text: excerpt ?? '',
              form: /^[[{]/.test(excerpt ?? '') ? 'json' : 'text',
              characters,
              complete: (excerpt ?? '').length >= characters,
            }}
          />
        ))
      ) : (
        <DiffedText runs={runs} side={name} />
      )}
    </div>
  );
};

/** Blocks of the thread that both sides are shown, from that of A. */
const SameBlocks = ({
  side,
  from,
  count,
}: {
  readonly side: ShownComparison['a'];
  readonly from: number;
  readonly count: number;
}): ComponentChildren => {
  const history = branchOf(side);
  const at = side.position.label;
  const query = useQuery(`now/h/${history}/same/${at}`, (client) =>
    client.tree({ history, at, limit: 20_000, excerpt: 500 }),
  );
  return (
    <Shown query={query} what="messages">
      {({ nodes }) => (
        <ol class="same-blocks">
          {nodes
            .filter(({ thread }) => thread !== null)
            .slice(from, from + count)
            .map((node) => (
              <li key={node.id}>
                <RoleBadge role={node.thread?.role} />{' '}
                <span>
                  <SafeText text={node.content?.text ?? ''} />
                  {node.content?.complete === false && '…'}
                </span>
              </li>
            ))}
        </ol>
      )}
    </Shown>
  );
};
