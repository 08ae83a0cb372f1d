import type { ComponentChildren } from 'preact';
import { useBranches } from '../branches/use-branches.ts';
import { branchLabel } from '../page/chosen.ts';
import { useHistories } from '../page/histories.tsx';
import { visible } from '../parts/safe-text.tsx';

/** A side of a comparison: a branch of any history (empty: the one that the page shows), and a position of it (empty: the newest). */
type PickedSide = { readonly branch: string; readonly at: string };

/** What `BRANCH@c3`, `BRANCH` or `@c3` names. */
const sideOf = (text: string): PickedSide => {
  const at = text.indexOf('@');
  return at === -1 ? { branch: text, at: '' } : { branch: text.slice(0, at), at: text.slice(at) };
};

const textOf = ({ branch, at }: PickedSide): string => {
  const position = at.trim();
  return branch + (position === '' || position.startsWith('@') ? position : `@${position}`);
};

type Options = {
  readonly branches: readonly (readonly [value: string, words: string])[];
  readonly histories: readonly (readonly [value: string, words: string])[];
  readonly saved: readonly string[];
};

/** What may be compared: branches and saved positions of the history, and the newest of the other histories. */
const useOptions = (history: string): Options => {
  const branches = useBranches(history.split(':')[0] ?? history);
  const histories = useHistories(1);
  const own = branches.state === 'done' ? branches.value.branches : [];
  return {
    branches: own.map(({ branchId, name }) => [name ?? String(branchId), branchLabel(branchId, name)]),
    saved: own.flatMap(({ saved }) => saved.map(({ name }) => `@name:${name}`)),
    histories:
      histories.state === 'done'
        ? histories.value.histories.map((one) => [`${one.history}:main`, one.name ?? one.history])
        : [],
  };
};

/** One side of a comparison: a branch or another run from a list, and a position of it. */
export const SidePicker = ({
  name,
  history,
  value,
  pick,
}: {
  readonly name: 'A' | 'B';
  readonly history: string;
  readonly value: string;
  readonly pick: (value: string) => void;
}): ComponentChildren => {
  const options = useOptions(history);
  const side = sideOf(value);
  const listed = [...options.branches, ...options.histories].some(([one]) => one === side.branch);
  return (
    <div class="side-picker">
      <label>
        {name}{' '}
        <select
          aria-label={name}
          value={side.branch}
          onChange={({ currentTarget }) => pick(textOf({ branch: currentTarget.value, at: '' }))}
        >
          <option value="">the branch that is shown</option>
          {!listed && side.branch !== '' && <option value={side.branch}>{visible(side.branch)}</option>}
          <optgroup label="Branches">
            {options.branches.map(([one, words]) => (
              <option key={one} value={one}>
                {visible(words)}
              </option>
            ))}
          </optgroup>
          <optgroup label="Runs">
            {options.histories.map(([one, words]) => (
              <option key={one} value={one}>
                {visible(words)}
              </option>
            ))}
          </optgroup>
        </select>
      </label>
      <input
        key={value}
        aria-label={`Position of ${name}`}
        title="A position: @c3, @name:NAME; empty: the newest"
        list={`positions-${name}`}
        placeholder="newest"
        value={side.at}
        onChange={({ currentTarget }) => pick(textOf({ ...side, at: currentTarget.value }))}
      />
      <datalist id={`positions-${name}`}>
        {options.saved.map((one) => (
          <option key={one} value={one}>
            {visible(one)}
          </option>
        ))}
      </datalist>
    </div>
  );
};
