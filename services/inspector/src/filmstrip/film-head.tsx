import type { FilmCellAnswer } from '@stemma/api';
import type { ComponentChildren } from 'preact';
import type { StripAction } from '../page/keys.tsx';
import type { Chosen } from './chosen-call.ts';
import { decisionWords, hasFailed } from './film-tracks.ts';
import { SafeText } from '../parts/safe-text.tsx';
import { grouped, plural } from '../parts/words.ts';

const ROLES = ['system', 'user', 'assistant', 'tool', 'other'] as const;

/** Over the strip: the call that is chosen or pointed at in numbers, and what the marks mean. */
export const FilmHead = ({
  cell,
  chosen,
  playing,
  play,
  nexts,
}: {
  readonly cell: FilmCellAnswer | null;
  readonly chosen: Chosen;
  readonly playing: boolean;
  readonly play: () => void;
  readonly nexts: Nexts;
}): ComponentChildren => (
  <header class="film-head">
    <button
      class="plain"
      tabIndex={-1}
      onClick={play}
      aria-pressed={playing}
      title="Show one call after the other (space, on the strip)"
    >
      {playing ? '❚❚ Pause' : '▶ Play'}
    </button>
    <NextButton action="next left" sign="−" words="left" nexts={nexts} />
    <NextButton action="next failed" sign="✕" words="failed" nexts={nexts} />
    <p class="film-read">
      {cell === null ? (
        <b>working state</b>
      ) : (
        <>
          <b>
            @c{cell.cycle} · {plural(cell.tokens, 'token')}
          </b>
          {ROLES.filter((role) => cell.roles[role] > 0).map((role) => (
            <span key={role} class={`role-name is-${role}`}>
              {role} {grouped(cell.roles[role])}
            </span>
          ))}
          <span class={hasFailed(cell) ? 'gone' : 'quiet'}>
            → <SafeText text={decisionWords(cell)} />
            {hasFailed(cell) && ' failed'}
          </span>
        </>
      )}
      {chosen.since !== null && <span class="quiet">since @c{chosen.since}</span>}
    </p>
    <ul class="film-legend" aria-label="Marks">
      {ROLES.slice(0, 4).map((role) => (
        <li key={role}>
          <i class={`swatch fill-${role}`} />
          {role}
        </li>
      ))}
      <li>
        <i class="swatch fill-new" />
        came
      </li>
      <li>
        <i class="swatch fill-gone" />
        left
      </li>
      <li class="gone">✕ tool failed</li>
      <li>
        <span class="mark-intervention">◆</span> intervention
      </li>
      <li>
        <CompactionMark /> compaction
      </li>
      <li>
        <span class="mark-saved">⚑</span> saved
      </li>
    </ul>
  </header>
);

/** What shows the next call that is worth a look; undefined: no other call is. */
export type Nexts = { readonly [action in StripAction]: (() => void) | undefined };

const NextButton = ({
  action,
  sign,
  words,
  nexts,
}: {
  readonly action: StripAction;
  readonly sign: string;
  readonly words: string;
  readonly nexts: Nexts;
}): ComponentChildren => (
  <button
    class="plain film-next"
    tabIndex={-1}
    disabled={nexts[action] === undefined}
    onClick={nexts[action]}
    title={
      action === 'next left'
        ? 'The next call from which something left (key -)'
        : 'The next call that failed, or one of its tools (key !)'
    }
  >
    {sign} {words}
  </button>
);

/** The sign that the strip draws where messages were removed in favour of others. */
const CompactionMark = (): ComponentChildren => (
  <svg class="mark-compaction" viewBox="0 0 14 14" aria-hidden="true">
    <path d="M1 2h12M1 12h12M3 5l4 3 4-3" />
  </svg>
);
