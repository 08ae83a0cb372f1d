import type { ComponentChildren } from 'preact';
import { useEffect, useMemo, useRef, useState } from 'preact/hooks';
import { RoleBadge } from '../parts/badges.tsx';
import { SafeText } from '../parts/safe-text.tsx';
import type { PageView, ViewProps } from '../parts/page-view.ts';
import { Shown } from '../asking/states.tsx';
import '../style/time.css';
import { MAX_INTERVENTIONS, useBranches } from '../branches/use-branches.ts';
import { useQuery } from '../asking/queries.ts';
import { useAttempts, useSizes, type LoadedSizes } from '../tree/use-sizes.ts';
import { TAIL, useTree } from '../tree/use-tree.ts';
import { optionProps, VirtualList } from '../parts/virtual-list.tsx';
import { firstWords } from '@stemma/api';
import {
  callWords,
  costWords,
  durationWords,
  grouped,
  plural,
  shortDuration,
  shortNumber,
} from '../parts/words.ts';
import { Chart, colourOf } from '../parts/chart.tsx';
import {
  chartEventsOf,
  partsIn,
  PARTS,
  pointsOf,
  type CallPoint,
  type ChartEvent,
  type StackedBy,
} from '../parts/series.ts';

/** A pause in scrubbing after which the address says where it stands, and what entered there is fetched. */
const SETTLE = 150;
/** How long each call is shown while they are played. */
const STEP = 700;

/** The calls of a branch along a line: what each was shown, what entered and was removed, and what happened there. */
export const View: PageView = (props) => {
  const { history } = props.address;
  return (
    <div class="time view-scroll">
      <Shown query={useSizes(history)} what="calls">
        {(sizes) =>
          sizes.sizes.length === 0 ? (
            <div class="note">
              <p>No call is recorded on this branch yet, so there is nothing to scrub through.</p>
              <pre>
                ./stemma record --history <SafeText text={history} /> -- python agent.py
              </pre>
            </div>
          ) : (
            <Scrubber sizes={sizes} {...props} />
          )
        }
      </Shown>
    </div>
  );
};

const useSources = (history: string, { branchId, sizes }: LoadedSizes) => {
  const root = history.split(':')[0] ?? history;
  const attempts = useAttempts(history);
  const branches = useBranches(root);
  const interventions = useQuery(`now/h/${root}/all-interventions`, (client) =>
    client.interventions({ history: root, order: 'newest', limit: MAX_INTERVENTIONS }),
  );
  const held = useQuery(`now/h/${root}/held-of`, (client) => client.heldOf({ history: root }));
  const attemptList = attempts.state === 'done' ? attempts.value : [];
  const points = useMemo(
    () => pointsOf(sizes, attemptList),
    [sizes, attempts.state === 'done' && attempts.value],
  );
  const events = useMemo(
    () =>
      chartEventsOf({
        points,
        branchId,
        branches: branches.state === 'done' ? branches.value.branches : [],
        interventions: interventions.state === 'done' ? interventions.value.interventions : [],
        held: held.state === 'done' ? held.value.calls : [],
      }),
    [
      points,
      branches.state === 'done' && branches.value,
      interventions.state === 'done' && interventions.value,
      held.state === 'done' && held.value,
    ],
  );
  return { points, events };
};

/** Which call is shown: that of the address, the one that somebody scrubs to, or each in turn while they are played. */
const useScrubbing = (points: readonly CallPoint[], settled: number, go: ViewProps['go']) => {
  /** Where somebody scrubs to, before the address says so. */
  const [moving, setMoving] = useState<number | null>(null);
  const [playing, setPlaying] = useState(false);
  const selected = Math.max(0, moving ?? settled);
  const timer = useRef(0);
  const choose = (index: number): void => {
    const to = Math.max(0, Math.min(points.length - 1, index));
    setMoving(to);
    clearTimeout(timer.current);
    timer.current = setTimeout(() => {
      const label = points[to]?.label;
      if (label !== undefined) go({ at: label }, 'replace');
      setMoving(null);
    }, SETTLE) as unknown as number;
  };
  useEffect(() => () => clearTimeout(timer.current), []);
  useEffect(() => {
    if (!playing) return undefined;
    if (selected >= points.length - 1) {
      setPlaying(false);
      return undefined;
    }
    const next = setTimeout(() => choose(selected + 1), STEP);
    return () => clearTimeout(next);
  }, [playing, selected]);
  const play = (): void => {
    if (!playing && selected >= points.length - 1) choose(0);
    setPlaying(!playing);
  };
  return { selected, isMoving: moving !== null, playing, choose, play };
};

const Scrubber = ({
  sizes,
  address,
  looking,
  go,
}: ViewProps & { readonly sizes: LoadedSizes }): ComponentChildren => {
  const { history } = address;
  const { points, events } = useSources(history, sizes);
  const stack: StackedBy = address.part === 'roles' ? 'roles' : 'regions';
  const first = points[0]?.cycle ?? 0;
  const indexOf = (label: string | null | undefined): number => {
    const cycle = /^@c(\d+)$/.exec(label ?? '')?.[1];
    return cycle === undefined ? -1 : Math.min(points.length - 1, Number(cycle) - first);
  };
  const settled = looking?.cycle == null ? points.length - 1 : indexOf(`@c${looking.cycle}`);
  const { selected, isMoving, playing, choose, play } = useScrubbing(points, settled, go);
  const other = address.other === null ? null : indexOf(address.other);

  const point = points[selected];
  const label = point?.label ?? '@t0';
  const against = points[other ?? Math.max(0, selected - 1)];
  const compare = (): void => {
    const [a, b] = [against, point].sort((x, y) => (x?.cycle ?? 0) - (y?.cycle ?? 0));
    go({ show: 'compare', a: a?.label ?? null, b: b?.label ?? null, part: null });
  };
  const chooseOther = (): void => go({ other: address.other === label ? null : label }, 'replace');
  const onKey = (event: KeyboardEvent): void => {
    const step = STEPS[event.key];
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    if (step !== undefined)
      choose(step === 'first' ? 0 : step === 'last' ? points.length - 1 : selected + step);
    else if (event.key === ' ') play();
    else if (event.key === 'm') chooseOther();
    else if (event.key === 'Enter') compare();
    else return;
    event.preventDefault();
    event.stopPropagation();
  };
  if (point === undefined) return null;
  return (
    <>
      <section class="panel time-chart" aria-label="Calls over time">
        <TimeHead label={label} stack={stack} go={go} />
        <TimeBar
          label={label}
          against={against}
          playing={playing}
          isOther={address.other === label}
          play={play}
          chooseOther={chooseOther}
          compare={compare}
          go={go}
        />
        <Chart
          points={points}
          events={events}
          stack={stack}
          selected={selected}
          other={other}
          choose={choose}
          onKey={onKey}
        />
        <Legend stack={stack} point={point} />
        <CallFacts point={point} />
        <HappenedHere events={events.filter(({ index }) => index === selected)} go={go} />
      </section>
      <Changes history={history} reference={points[settled]?.label ?? label} busy={isMoving} go={go} />
      <CallTable points={points} events={events} selected={selected} stack={stack} choose={choose} />
    </>
  );
};

/** The call that is shown, and the choice of what its tokens are stacked by. */
const TimeHead = ({
  label,
  stack,
  go,
}: {
  readonly label: string;
  readonly stack: StackedBy;
  readonly go: ViewProps['go'];
}): ComponentChildren => (
  <header class="panel-head">
    <h2>
      Time <span class="at">{label}</span>
    </h2>
    <div class="tabs" role="group" aria-label="Stacked by">
      {(['regions', 'roles'] as const).map((one) => (
        <button
          key={one}
          class="tab"
          aria-pressed={stack === one}
          onClick={() => go({ part: one === 'regions' ? null : one }, 'replace')}
        >
          by {one}
        </button>
      ))}
    </div>
  </header>
);

/** What can be done with the call that is shown. */
const TimeBar = ({
  label,
  against,
  playing,
  isOther,
  play,
  chooseOther,
  compare,
  go,
}: {
  readonly label: string;
  /** The call that it is compared with. */
  readonly against: CallPoint | undefined;
  readonly playing: boolean;
  /** True if the call itself is chosen as the other point. */
  readonly isOther: boolean;
  readonly play: () => void;
  readonly chooseOther: () => void;
  readonly compare: () => void;
  readonly go: ViewProps['go'];
}): ComponentChildren => (
  <div class="time-bar">
    <button class="plain" onClick={play} aria-pressed={playing} title="Play (space, on the chart)">
      {playing ? 'Pause' : 'Play'}
    </button>
    <button
      class="plain"
      onClick={chooseOther}
      aria-pressed={isOther}
      title="Choose it as the other point (m, on the chart)"
    >
      {isOther ? 'Chosen to compare' : 'Choose to compare'}
    </button>
    <button class="plain" onClick={compare} title="Compare (Enter, on the chart)">
      Compare {against?.label} with {label}
    </button>
    <button class="plain" onClick={() => go({ show: null, at: label })}>
      Open context
    </button>
  </div>
);

const STEPS: Readonly<Record<string, number | 'first' | 'last'>> = {
  ArrowLeft: -1,
  ArrowRight: 1,
  ArrowDown: -1,
  ArrowUp: 1,
  PageDown: -10,
  PageUp: 10,
  Home: 'first',
  End: 'last',
};

const Legend = ({
  stack,
  point,
}: {
  readonly stack: StackedBy;
  readonly point: CallPoint;
}): ComponentChildren => (
  <ul class="chart-legend">
    {PARTS[stack].map(([name, words], part) => (
      <li key={name} title={`tokens of the ${words}`}>
        <span class="swatch" style={{ background: `var(${colourOf(stack, part)})` }} />
        {words} <b>{grouped(partsIn(point, stack)[part] ?? 0)}</b>
      </li>
    ))}
    <li class="came">
      entered <b>+{grouped(point.entered)}</b>
    </li>
    <li class="gone">
      removed <b>−{grouped(point.removed)}</b>
    </li>
  </ul>
);

const CallFacts = ({ point }: { readonly point: CallPoint }): ComponentChildren => {
  const { attempt } = point;
  return (
    <p class="time-facts quiet" role="status">
      {plural(point.messages, 'message')}, {plural(point.tokens, 'token')} counted
      {attempt !== null && (
        <>
          {' · '}
          <SafeText text={attempt.model ?? 'no model'} /> {attempt.status}
          {attempt.usage !== null &&
            ` · ${attempt.usage.input ?? '?'} → ${attempt.usage.output ?? '?'} tokens`}
          {` · ${durationWords(attempt.duration_ms)}`}
          {attempt.cost !== null && ` · ${costWords(attempt) ?? ''}`}
          {point.attempts > 1 && ` · ${plural(point.attempts, 'attempt')}`}
        </>
      )}
    </p>
  );
};

const HappenedHere = ({
  events,
  go,
}: {
  readonly events: readonly ChartEvent[];
  readonly go: ViewProps['go'];
}): ComponentChildren =>
  events.length > 0 && (
    <ul class="happened-here" aria-label="What happened here">
      {events.slice(0, 20).map((each, i) => (
        <li key={i}>
          <span class={`badge event-${each.kind}`}>{each.kind}</span>{' '}
          {each.intervention === undefined ? (
            <SafeText text={firstWords(each.words, 120)} />
          ) : (
            <button
              class="link"
              onClick={() =>
                go({ show: null, side: 'interventions', intervention: each.intervention ?? null })
              }
            >
              <SafeText text={firstWords(each.words, 120)} />
            </button>
          )}
        </li>
      ))}
      {events.length > 20 && <li class="quiet">and {events.length - 20} more</li>}
    </ul>
  );

/** The nodes that entered with a call, and those that it is not shown any more, each with the reason. */
const Changes = ({
  history,
  reference,
  busy,
  go,
}: {
  readonly history: string;
  readonly reference: string;
  readonly busy: boolean;
  readonly go: ViewProps['go'];
}): ComponentChildren => {
  const query = useTree(history, reference, TAIL);
  return (
    <section class="panel time-changes" aria-label="What entered and what was removed" aria-busy={busy}>
      <Shown query={query} what="changes">
        {(page) => {
          const entered = page.nodes.filter(({ new: isNew, shape }) => isNew && shape === 'block');
          return (
            <>
              <header class="panel-head">
                <h2>
                  {page.previous === null ? 'First call' : `Since ${page.previous.label}`}{' '}
                  <span class="at">{page.position.label}</span>
                </h2>
                <span class="quiet">
                  +{grouped(page.added)} −{grouped(page.removedTotal)} nodes
                </span>
              </header>
              <div class="scroll" tabIndex={0} role="region" aria-label="Changes, content">
                <ul class="change-list">
                  {entered.map((node) => (
                    <li key={node.id} class="is-new">
                      <span class="sign came">+</span>
                      <RoleBadge role={node.thread?.role ?? node.role} />
                      <button
                        class="link-row"
                        onClick={() => go({ show: null, at: page.position.label, node: node.id })}
                      >
                        <SafeText
                          text={firstWords(
                            (node.content?.form === 'json' ? callWords(node.content.text) : undefined) ??
                              node.content?.text ??
                              'no content',
                            300,
                          )}
                        />
                      </button>
                    </li>
                  ))}
                  {page.removed.map((node) => (
                    <li key={node.id} class="is-gone">
                      <span class="sign gone">−</span>
                      <span class="badge cause">{node.cause ?? 'removed'}</span>
                      {node.content === null ? (
                        <span class="quiet">
                          <SafeText text={node.nodeType} />
                        </span>
                      ) : (
                        <>
                          <RoleBadge role={node.role} />
                          <button
                            class="link-row"
                            title="Show it where it last was"
                            onClick={() =>
                              go({ show: null, at: page.previous?.label ?? null, node: node.id })
                            }
                          >
                            <SafeText text={firstWords(node.content.text, 300)} />
                          </button>
                        </>
                      )}
                    </li>
                  ))}
                  {entered.length + page.removed.length === 0 && (
                    <li class="quiet">Nothing entered, and nothing was removed.</li>
                  )}
                </ul>
              </div>
            </>
          );
        }}
      </Shown>
    </section>
  );
};

const CallTable = ({
  points,
  events,
  selected,
  stack,
  choose,
}: {
  readonly points: readonly CallPoint[];
  readonly events: readonly ChartEvent[];
  readonly selected: number;
  readonly stack: StackedBy;
  readonly choose: (index: number) => void;
}): ComponentChildren => {
  const kindsAt = useMemo(() => {
    const found = new Map<number, string[]>();
    for (const { index, kind } of events) found.set(index, [...(found.get(index) ?? []), kind]);
    return found;
  }, [events]);
  return (
    <section class="panel time-table" aria-label="The calls as a table">
      <div class="table-head quiet" aria-hidden="true">
        <span>call</span>
        <span>shown</span>
        {PARTS[stack].map(([name, words]) => (
          <span key={name} class="of-part" title={words}>
            {name}
          </span>
        ))}
        <span>+</span>
        <span>−</span>
        <span>time</span>
        <span>what</span>
      </div>
      <VirtualList
        label="Calls, oldest first"
        count={points.length}
        rowHeight={26}
        selected={selected}
        row={(i) => {
          const point = points[i];
          if (point === undefined) return null;
          const here = kindsAt.get(i) ?? [];
          return (
            <button
              class="table-row"
              {...optionProps(i, points.length, i === selected)}
              onClick={() => choose(i)}
            >
              <b>{point.label}</b>
              <span aria-label={`${point.tokens} tokens`} title={grouped(point.tokens)}>
                {shortNumber(point.tokens)}
              </span>
              {partsIn(point, stack).map((tokens, part) => (
                <span key={part} class="of-part" title={grouped(tokens)}>
                  {shortNumber(tokens)}
                </span>
              ))}
              <span class="came" aria-label={`${point.entered} entered`}>
                {point.entered > 0 && `+${point.entered}`}
              </span>
              <span class="gone" aria-label={`${point.removed} removed`}>
                {point.removed > 0 && `−${point.removed}`}
              </span>
              <span>{point.attempt === null ? '' : shortDuration(point.attempt.duration_ms)}</span>
              <span class="table-kinds" title={[...new Set(here)].join(', ')}>
                {[...new Set(here)].join(', ')}
              </span>
            </button>
          );
        }}
      />
    </section>
  );
};
