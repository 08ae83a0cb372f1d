import type { Intervention } from '@stemma/api';
import type { ComponentChildren } from 'preact';
import { placesOf } from './act-words.ts';
import type { Go } from './address.ts';

/** The positions around an intervention, as links. */
export const Places = ({ act, go }: { readonly act: Intervention; readonly go: Go }): ComponentChildren => {
  const { before, after } = placesOf(act);
  return (
    <span class="places">
      {before !== null && (before.at !== after.at || before.lineage !== after.lineage) && (
        <>
          <PlaceLink place={before} what="before" act={act.id} go={go} />
          <span aria-hidden="true">→</span>
        </>
      )}
      <PlaceLink place={after} what="after" act={act.id} go={go} />
    </span>
  );
};

/** A link to a position that leaves the intervention open. */
export const PlaceLink = ({
  place: { lineage, at },
  what,
  words,
  act,
  go,
}: {
  readonly place: { readonly lineage: string; readonly at: string };
  readonly what?: string;
  readonly words?: string;
  readonly act: string;
  readonly go: Go;
}): ComponentChildren => (
  <button
    class="link place"
    title={`${what === undefined ? '' : `${what}: `}${at} of ${lineage}`}
    onClick={() => go({ history: lineage, at, act })}
  >
    {words ?? at}
  </button>
);
