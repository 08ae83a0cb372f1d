import type { AnswerOf, Endpoints } from '@stemma/api';
import type { ComponentChildren } from 'preact';
import { useState } from 'preact/hooks';
import { addressById } from '../chosen.ts';

export type ShownComparison = AnswerOf<Endpoints['compare']>;

/** The history and branch of a side, as addresses have them. */
export const branchOf = ({ position }: ShownComparison['a']): string =>
  addressById(position.history, position.branchId);

/** A part of the page that somebody opens: closed, only its words are there. */
export const Folded = ({
  words,
  children,
}: {
  readonly words: string;
  readonly children: () => ComponentChildren;
}): ComponentChildren => {
  const [open, setOpen] = useState(false);
  return (
    <div class="folded">
      <button class="more" aria-expanded={open} onClick={() => setOpen(!open)}>
        {open ? '▾' : '▸'} {words}
      </button>
      {open && children()}
    </div>
  );
};
