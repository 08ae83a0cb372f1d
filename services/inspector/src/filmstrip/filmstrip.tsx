import type { FilmCellAnswer, HeldCallAnswer } from '@stemma/api';
import type { ComponentChildren } from 'preact';
import { useEffect, useLayoutEffect, useMemo, useRef, useState } from 'preact/hooks';
import type { Address, Go } from '../page/address.ts';
import { Failure } from '../asking/states.tsx';
import type { Looking } from '../cycles/use-cycles.ts';
import { timeLeft, useHeld } from '../calls/use-held.ts';
import { grouped } from '../parts/words.ts';
import { useStripKeys } from '../page/keys.tsx';
import { FilmHead, type Nexts } from './film-head.tsx';
import { hasFailed, spokenCell, type Film } from './film-tracks.ts';
import { cellAt, columnLeft, trackTop, layoutOf, scrollTo, type FilmLayout } from './film-layout.ts';
import { drawFilm, drawOverview, type HeldCell } from './draw-film.ts';
import { chosenIn, type Chosen } from './chosen-call.ts';
import { useFilm } from './use-film.ts';
import { usePlaying } from './use-playing.ts';

/** Above every view of a history: a cell a call, its branches as tracks, and the call that is shown. */
export const Filmstrip = ({
  address,
  history,
  branch,
  looking,
  go,
}: {
  readonly address: Address;
  /** The id of the history. */
  readonly history: string;
  /** The address of the branch that is shown. */
  readonly branch: string;
  readonly looking: Looking | null;
  readonly go: Go;
}): ComponentChildren => {
  const { query, film } = useFilm(history);
  const held = useHeld(history);
  const branches = query.state === 'done' ? query.value.branches : NONE;
  const saved = useMemo(() => (film === null ? NO_NAMES : savedIn(film, branches)), [film, branches]);
  if (query.state === 'failed')
    return (
      <section class="panel film" aria-label="Filmstrip">
        <Failure error={query.error} />
      </section>
    );
  if (film === null) return <section class="panel film is-loading" aria-label="Filmstrip" aria-busy="true" />;
  if (film.last < film.first) return null;
  const chosen = chosenIn(film, branches, branch, looking, address.since);
  return (
    <Strip
      film={film}
      saved={saved}
      held={held}
      chosen={chosen}
      isLow={address.show !== null && address.show !== 'call'}
      go={go}
    />
  );
};

const NONE: readonly never[] = [];
const NO_NAMES: ReadonlyMap<string, readonly string[]> = new Map();

type Branches = Parameters<typeof chosenIn>[1];

/** Names of saved positions by the row and cycle that they are drawn at. */
const savedIn = (film: Film, branches: Branches): ReadonlyMap<string, readonly string[]> => {
  const saved = new Map<string, string[]>();
  for (const { branchId, saved: names } of branches)
    for (const { name, cycle } of names) {
      const track = cycle === null ? undefined : film.trackOf(branchId, cycle);
      if (track === undefined) continue;
      const key = `${track.row}.${cycle}`;
      saved.set(key, [...(saved.get(key) ?? []), name]);
    }
  return saved;
};

const nextsOf = (chosen: Chosen, go: Go): Nexts => {
  const showing = (is: (cell: FilmCellAnswer) => boolean): (() => void) | undefined => {
    const next = chosen.nextWhere(is);
    return next && (() => chosen.show(go, next));
  };
  return { 'next left': showing(({ left }) => (left?.messages ?? 0) > 0), 'next failed': showing(hasFailed) };
};

const heldCells = (film: Film, held: readonly HeldCallAnswer[]): readonly HeldCell[] =>
  held.map(({ branchId, cycle, until }) => ({
    cycle,
    row:
      film.tracks.find((track) => track.branchId === branchId)?.row ??
      film.trackOf(branchId, cycle - 1)?.row ??
      0,
    words: `held ${timeLeft(until, Date.now())}`,
  }));

type StripProps = {
  readonly film: Film;
  readonly saved: ReadonlyMap<string, readonly string[]>;
  readonly held: readonly HeldCallAnswer[];
  readonly chosen: Chosen;
  /** It is above a view that needs the room. */
  readonly isLow: boolean;
  readonly go: Go;
};

const Strip = ({ film, saved, held, chosen, isLow, go }: StripProps): ComponentChildren => {
  const box = useRef<HTMLDivElement>(null);
  const canvas = useRef<HTMLCanvasElement>(null);
  const width = useWidth(box);
  const [scroll, setScroll] = useState(0);
  const [hovered, setHovered] = useState<FilmCellAnswer | null>(null);
  const waiting = heldCells(film, held);
  const lastColumn = Math.max(chosen.cycle, ...waiting.map(({ cycle }) => cycle));
  const extra = Math.max(0, lastColumn - film.last);
  const layout = useMemo(
    () => layoutOf(film, width, { row: chosen.row, extraColumns: extra, isLow }),
    [film, width, chosen.row, extra, isLow],
  );
  const shift = scrollTo(layout, film, chosen.cycle, scroll);
  const { playing, play } = usePlaying(chosen, go);
  const nexts = nextsOf(chosen, go);
  useStripKeys((action) => nexts[action]?.());

  // What is kept in view moves with the choice; what somebody scrolls to stays until they choose again.
  const [free, setFree] = useState<number | null>(null);
  useEffect(() => {
    setScroll(shift);
    setFree(null);
  }, [chosen.cycle, chosen.row]);
  const shown = free ?? shift;

  useEffect(() => {
    const element = canvas.current;
    if (element === null || width === 0) return undefined;
    const redraw = (): void => drawFilm(element, { film, layout, scroll: shown, saved, held: waiting });
    const frame = requestAnimationFrame(redraw);
    const scheme = matchMedia('(prefers-color-scheme: dark)');
    scheme.addEventListener('change', redraw);
    return () => {
      cancelAnimationFrame(frame);
      scheme.removeEventListener('change', redraw);
    };
  }, [film, layout, shown, saved, waiting.map(({ words }) => words).join()]);

  const pointed = (event: PointerEvent | MouseEvent): ReturnType<typeof cellAt> => {
    const { left, top } = (event.currentTarget as HTMLElement).getBoundingClientRect();
    return cellAt(layout, film, shown, { x: event.clientX - left, y: event.clientY - top });
  };
  const press = (event: PointerEvent): void => {
    const at = pointed(event);
    if (at === null) return;
    if (event.shiftKey) {
      chosen.chooseSince(go, at.cycle);
      return;
    }
    if (event.currentTarget instanceof Element) event.currentTarget.setPointerCapture(event.pointerId);
    chosen.choose(go, at.cycle, at.track.row, 'push');
  };
  const move = (event: PointerEvent): void => {
    const at = pointed(event);
    if (event.buttons === 1 && !event.shiftKey && at !== null) {
      if (at.cycle !== chosen.cycle) chosen.choose(go, at.cycle, chosen.row, 'replace');
      return;
    }
    setHovered(at?.track.cells.find(({ cycle }) => cycle === at.cycle) ?? null);
  };
  const most = Math.max(0, layout.columns - layout.inView);
  const wheel = (event: WheelEvent): void => {
    if (!layout.scrolls || (event.deltaX === 0 && !event.shiftKey)) return;
    event.preventDefault();
    const by = (event.deltaX === 0 ? event.deltaY : event.deltaX) / layout.cell;
    setFree(Math.max(0, Math.min(most, shown + by)));
  };
  return (
    <section class="panel film" aria-label="Filmstrip of the calls">
      <FilmHead cell={hovered ?? chosen.cell} chosen={chosen} playing={playing} play={play} nexts={nexts} />
      <div
        ref={box}
        class="film-box"
        role="slider"
        tabIndex={0}
        aria-label="Filmstrip"
        aria-valuemin={film.first}
        aria-valuemax={Math.max(film.first, lastColumn, film.last)}
        aria-valuenow={chosen.cycle}
        aria-valuetext={chosen.cell === null ? 'working state' : spokenCell(chosen.cell, grouped)}
        style={{ height: `${layout.height}px` }}
        onKeyDown={(event) => keyPressed(event, { chosen, film, go, play })}
        onPointerDown={press}
        onPointerMove={move}
        onPointerLeave={() => setHovered(null)}
        onWheel={wheel}
      >
        <Frame film={film} layout={layout} scroll={shown} chosen={chosen} />
        <canvas ref={canvas} aria-hidden="true" />
      </div>
      {layout.scrolls && (
        <Overview
          film={film}
          layout={layout}
          scroll={shown}
          scrollBy={(to) => setFree(Math.max(0, Math.min(most, to)))}
        />
      )}
    </section>
  );
};

const useWidth = (box: { readonly current: HTMLElement | null }): number => {
  const [width, setWidth] = useState(0);
  useLayoutEffect(() => {
    const element = box.current;
    if (element === null) return undefined;
    const measure = (): void => setWidth(element.clientWidth);
    measure();
    const observer = new ResizeObserver(measure);
    observer.observe(element);
    return () => observer.disconnect();
  }, []);
  return width;
};

type Keyed = { readonly chosen: Chosen; readonly film: Film; readonly go: Go; readonly play: () => void };

const STEPS: Readonly<Record<string, number>> = { ArrowLeft: -1, ArrowRight: 1, PageUp: -10, PageDown: 10 };

const keyPressed = (event: KeyboardEvent, { chosen, film, go, play }: Keyed): void => {
  if (event.ctrlKey || event.metaKey || event.altKey) return;
  const step = STEPS[event.key];
  if (step !== undefined && event.shiftKey) chosen.stepSince(go, step);
  else if (step !== undefined) chosen.step(go, step);
  else if (event.key === 'Home') chosen.choose(go, film.first, chosen.row, 'replace');
  else if (event.key === 'End') chosen.choose(go, film.last, chosen.row, 'replace');
  else if (event.key === 'ArrowDown') chosen.changeTrack(go, 1);
  else if (event.key === 'ArrowUp') chosen.changeTrack(go, -1);
  else if (event.key === ' ') play();
  else return;
  event.preventDefault();
  event.stopPropagation();
};

/** What is chosen, behind the drawing, and the number of the call over it: a step moves these and draws nothing. */
const Frame = ({
  film,
  layout,
  scroll,
  chosen,
}: {
  readonly film: Film;
  readonly layout: FilmLayout;
  readonly scroll: number;
  readonly chosen: Chosen;
}): ComponentChildren => {
  const top = trackTop(layout, chosen.row);
  if (top === null) return null;
  const { cell, mainHeight, trackHeight, marks, bars, numbers, axis } = layout;
  const left = columnLeft(layout, film, chosen.cycle, scroll);
  if (left < axis - 1 || left > layout.width) return null;
  const isMain = chosen.row === 0;
  const since = chosen.since === null ? null : Math.max(axis, columnLeft(layout, film, chosen.since, scroll));
  return (
    <>
      {since !== null && (
        <span
          class="film-since"
          style={{
            left: `${since}px`,
            width: `${Math.max(0, left - since)}px`,
            top: `${marks}px`,
            height: `${bars + layout.changes}px`,
          }}
        />
      )}
      <span
        class={`film-frame${chosen.cell === null ? ' is-draft' : ''}`}
        style={{
          left: `${left}px`,
          width: `${cell}px`,
          top: `${isMain ? marks - 3 : top}px`,
          height: `${isMain ? mainHeight - marks + 3 : trackHeight - 1}px`,
        }}
      />
      {isMain && (
        <span
          class="film-number"
          style={{
            left: `${left + cell / 2}px`,
            minWidth: `${Math.max(20, cell - 2)}px`,
            top: `${mainHeight - numbers}px`,
            height: `${numbers - 1}px`,
          }}
        >
          {chosen.cell === null ? 'open' : chosen.cycle}
        </span>
      )}
    </>
  );
};

const OVERVIEW = 26;

/** All calls of the first row, and the window in view, to drag. */
const Overview = ({
  film,
  layout,
  scroll,
  scrollBy,
}: {
  readonly film: Film;
  readonly layout: FilmLayout;
  readonly scroll: number;
  readonly scrollBy: (to: number) => void;
}): ComponentChildren => {
  const canvas = useRef<HTMLCanvasElement>(null);
  const width = layout.width - layout.axis - 14;
  useEffect(() => {
    const element = canvas.current;
    if (element === null) return undefined;
    const redraw = (): void => drawOverview(element, film, width, OVERVIEW);
    redraw();
    const scheme = matchMedia('(prefers-color-scheme: dark)');
    scheme.addEventListener('change', redraw);
    return () => scheme.removeEventListener('change', redraw);
  }, [film, width]);
  const drag = (event: PointerEvent): void => {
    const { left } = (event.currentTarget as HTMLElement).getBoundingClientRect();
    scrollBy(((event.clientX - left) / width) * layout.columns - layout.inView / 2);
  };
  return (
    <div
      class="film-overview"
      aria-hidden="true"
      style={{ marginInlineStart: `${layout.axis}px`, width: `${width}px`, height: `${OVERVIEW}px` }}
      onPointerDown={(event) => {
        event.currentTarget.setPointerCapture(event.pointerId);
        drag(event);
      }}
      onPointerMove={(event) => event.buttons === 1 && drag(event)}
    >
      <canvas ref={canvas} />
      <span
        class="film-window"
        style={{
          left: `${(scroll / layout.columns) * width}px`,
          width: `${Math.max(4, (layout.inView / layout.columns) * width)}px`,
        }}
      />
    </div>
  );
};
