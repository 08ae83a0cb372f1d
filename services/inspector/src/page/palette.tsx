import type { HistorySummaryAnswer } from '@stemma/api';
import type { ComponentChildren } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import { DIALOGS, type Go } from './address.ts';
import { DIALOG_WORDS } from '../parts/dialog-words.ts';
import { KEY_ACTIONS, type KeyAction } from './keys.tsx';
import { SafeText } from '../parts/safe-text.tsx';
import { moveFocus } from '../search/search.tsx';

type Action = {
  readonly words: string;
  readonly more: string;
  readonly key: string;
  readonly run: () => void;
};

type Props = {
  /** The newest histories. */
  readonly histories: readonly HistorySummaryAnswer[];
  readonly hasHistory: boolean;
  readonly run: (action: KeyAction) => void;
  readonly go: Go;
  readonly close: () => void;
};

/** Every action of the page and every newest history by its name, as a dialog. */
export const Palette = (props: Props): ComponentChildren => {
  const { close } = props;
  const dialog = useRef<HTMLDialogElement>(null);
  const [typed, setTyped] = useState('');
  useEffect(() => dialog.current?.showModal(), []);
  const found = [...positionIn(typed, props), ...matching(actionsOf(props), typed)];
  // The dialog is closed first, as an action may open another one.
  const act = ({ run }: Action): void => {
    close();
    run();
  };
  return (
    <dialog
      ref={dialog}
      class="search palette"
      aria-label="Actions"
      onClose={close}
      onClick={({ target }) => target === dialog.current && dialog.current?.close()}
      onKeyDown={moveFocus}
    >
      <div class="search-line">
        <input
          type="text"
          role="searchbox"
          autofocus
          aria-label="Find an action, a history or a position"
          placeholder="fork, compare, a history, @c12"
          value={typed}
          onInput={({ currentTarget }) => setTyped(currentTarget.value)}
          onKeyDown={(event) => {
            const [first] = found;
            if (event.key !== 'Enter' || first === undefined) return;
            event.preventDefault();
            act(first);
          }}
        />
      </div>
      <ul class="search-hits">
        {found.map((action) => (
          <li key={`${action.words} ${action.more}`}>
            <button class="search-hit" onClick={() => act(action)}>
              <SafeText text={action.words} /> <span class="quiet">{action.more}</span>{' '}
              {action.key !== '' && <kbd>{action.key}</kbd>}
            </button>
          </li>
        ))}
        {found.length === 0 && (
          <li class="note">No action and none of the newest histories has these words.</li>
        )}
      </ul>
    </dialog>
  );
};

/** A position that is typed, as `@c12`, `@s57` or the name of a saved one behind an `@`. */
const positionIn = (typed: string, { hasHistory, go }: Props): readonly Action[] => {
  const at = typed.trim();
  return hasHistory && /^@\S+$/.test(at)
    ? [{ words: `Show ${at}`, more: 'position', key: '', run: () => go({ at }) }]
    : [];
};

const actionsOf = ({ histories, hasHistory, run, go }: Props): readonly Action[] => [
  ...KEY_ACTIONS.map(({ action, key, words }) => ({ words, more: '', key, run: () => run(action) })),
  ...(hasHistory ? DIALOGS : []).map((dialog) => {
    const [words, , more] = DIALOG_WORDS[dialog];
    return { words, more, key: '', run: () => go({ dialog }) };
  }),
  ...histories.map(({ history, name }) => ({
    words: name ?? history,
    more: `history ${history}`,
    key: '',
    run: () => go({ history }),
  })),
];

/** Those with all the words, first those that begin with the first one. */
const matching = (actions: readonly Action[], typed: string): readonly Action[] => {
  const wanted = typed.toLowerCase().split(/\s+/).filter(Boolean);
  const found = actions.filter(({ words, more }) => {
    const text = `${words} ${more}`.toLowerCase();
    return wanted.every((word) => text.includes(word));
  });
  const first = wanted[0] ?? '';
  const begins = ({ words }: Action): boolean => words.toLowerCase().startsWith(first);
  return [...found.filter(begins), ...found.filter((one) => !begins(one))];
};
