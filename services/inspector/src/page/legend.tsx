import type { ComponentChildren } from 'preact';
import { useDialogAtTop } from '../parts/use-dialog-at-top.ts';

/** The words of the tree, in the order in which they stand in it. */
const WORDS: readonly (readonly [word: string, meaning: string])[] = [
  ['^sys', 'the system header: what stands before every turn, instructions and plans. Its depth is −1.'],
  ['^seq', 'the sealed turns, the oldest first: what was said up to the newest call.'],
  ['^ah', 'the active head: what came since the newest call and is shown at the next one. Its depth is 0.'],
  ['turn', 'what came between two calls. Depth 1 is the newest turn, depth 2 the one before it.'],
  [
    'sealed',
    'a call was made with it: the core of a sealed turn never changes any more, so it cannot be edited.',
  ],
  [
    'core',
    'the messages of a turn themselves. pre −1 stands before them, post +1 after them: documents, notes, hints.',
  ],
  ['block', 'a message, or a part of one, with its role: system, user, assistant, tool.'],
  ['ttl 2', 'it is in two more snapshots, then it expires. ↓: one less than at the call before.'],
  ['new', 'the snapshot before does not have it.'],
  ['expired', 'its ttl ran out.'],
  ['pruned', 'a rule of the policy took it out to make room: at most so many blocks.'],
  ['cascaded', 'it went with its container, or its container became empty.'],
  ['cycle @c7', 'one turn of the loop, ended by a commit: the seventh call was made with snapshot @c7.'],
  ['@s57', 'the position after frame 57: every change has one, not only every call.'],
  ['open', 'the working state: what is there and was not sent yet.'],
];

/** What the words of the tree mean, as a dialog. */
export const Legend = ({ close }: { readonly close: () => void }): ComponentChildren => {
  const dialog = useDialogAtTop();
  return (
    <dialog
      ref={dialog}
      class="keys legend"
      aria-labelledby="legend-title"
      onClose={close}
      onClick={({ target }) => target === dialog.current && close()}
    >
      <h2 id="legend-title">What the words mean</h2>
      <dl>
        {WORDS.map(([word, meaning]) => (
          <div key={word}>
            <dt>
              <code>{word}</code>
            </dt>
            <dd>{meaning}</dd>
          </div>
        ))}
      </dl>
      <form method="dialog">
        <button autofocus>Close</button>
      </form>
    </dialog>
  );
};
