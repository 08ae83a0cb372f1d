import type { InterventionAnswer } from '@stemma/api';
import type { ComponentChildren } from 'preact';
import type { Go } from './address.ts';
import { positionsAround } from '../interventions/describe-intervention.ts';

/** The positions around an intervention, as links. */
export const PositionLinks = ({
  intervention,
  go,
}: {
  readonly intervention: InterventionAnswer;
  readonly go: Go;
}): ComponentChildren => {
  const { before, after } = positionsAround(intervention);
  return (
    <span class="places">
      {before !== null && (before.at !== after.at || before.branch !== after.branch) && (
        <>
          <PositionLink position={before} what="before" intervention={intervention.id} go={go} />
          <span aria-hidden="true">→</span>
        </>
      )}
      <PositionLink position={after} what="after" intervention={intervention.id} go={go} />
    </span>
  );
};

/** A link to a position that leaves the intervention open. */
export const PositionLink = ({
  position: { branch, at },
  what,
  words,
  intervention,
  go,
}: {
  readonly position: { readonly branch: string; readonly at: string };
  readonly what?: string;
  readonly words?: string;
  readonly intervention: string;
  readonly go: Go;
}): ComponentChildren => (
  <button
    class="link place"
    title={`${what === undefined ? '' : `${what}: `}${at} of ${branch}`}
    onClick={() => go({ history: branch, at, intervention })}
  >
    {words ?? at}
  </button>
);
