import type { AnswerOf, Endpoints } from '@stemma/api';
import type { ComponentChildren } from 'preact';
import { useState } from 'preact/hooks';
import { addressById, branchLabel } from '../page/chosen.ts';
import { SafeText } from '../parts/safe-text.tsx';
import { useQuery } from '../asking/queries.ts';

export type ShownComparison = AnswerOf<Endpoints['compare']>;

/** The history and branch of a side, as addresses have them. */
export const branchOf = ({ position }: ShownComparison['a']): string =>
  addressById(position.history, position.branchId);

/** A position in words: its label, and the names of its branch and history. While they are fetched, the id of the branch. */
export const PlaceWords = ({ position }: Pick<ShownComparison['a'], 'position'>): ComponentChildren => {
  const { history, branch, branchId, label } = position;
  const summary = useQuery(`now/h/${history}/summary`, (client) => client.history({ history }));
  const found = summary.state === 'done' ? summary.value : undefined;
  const own = found?.branches.find((one) => one.branchId === branchId);
  return (
    <span title={branch}>
      {label} of{' '}
      <SafeText
        text={found === undefined ? branch : `${found.name ?? history}:${branchLabel(branchId, own?.name)}`}
      />
    </span>
  );
};

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
