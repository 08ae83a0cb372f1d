import type { ComponentChildren } from 'preact';
import { useEffect, useRef } from 'preact/hooks';
import { useDialogAtTop } from '../parts/use-dialog-at-top.ts';
import type { Show, Side } from './address.ts';

/** The keys and their effects, for the table that `?` shows. */
const KEYS: readonly (readonly [keys: readonly string[], what: string])[] = [
  [['j', '←', '↓'], 'the older call'],
  [['k', '→', '↑'], 'the newer call'],
  [
    ['Home', 'End'],
    'on the strip: the first and the last call; ↑ ↓ its tracks, Shift ← → since, Space plays',
  ],
  [['-', '!'], 'the next call from which something left; the next one that failed, or one of its tools'],
  [['f'], 'follow the newest call'],
  [['o'], 'the working state'],
  [['h'], 'the table of all runs'],
  [['['], 'the previous history'],
  [[']'], 'the next history'],
  [['v'], 'thread, bytes, OpenAI messages'],
  [['m'], 'texts as they are, or rendered: Markdown, JSON'],
  [['c'], 'the table of cycles, beside the view'],
  [['b'], 'the branches, beside the view'],
  [['i'], 'the interventions, beside the view'],
  [['a'], 'intervene: inject, edit, fork, roll back, run'],
  [['u'], 'the call: what was shown and left, what was decided, what came back'],
  [['x'], 'the context at the chosen cycle'],
  [['t'], 'time: scrub through the calls'],
  [['d'], 'compare two positions, branches or histories'],
  [['r'], 'the reruns: where the agent parts from its recording, and why'],
  [['p'], 'the pool: its messages, a map of them, figures, a verdict'],
  [['g'], 'the drawing of the branches, saved positions'],
  [['w'], 'the calls: how long each took'],
  [['s'], 'the compiler stages'],
  [['e'], 'the events'],
  [['y'], 'the system'],
  [['l'], 'what the words of the tree mean'],
  [['n'], 'find nodes by a selector'],
  [['/'], 'search in all histories'],
  [['Tab'], 'the next part of the page; in the tree and in lists ↑ ↓ and Enter'],
  [['Esc'], 'close the detail'],
  [['Ctrl K'], 'all actions by their names, and positions: @c12'],
  [['?'], 'this table'],
];

export type KeyAction =
  | 'older'
  | 'newer'
  | 'follow'
  | 'open'
  | 'above'
  | 'below'
  | 'view'
  | 'texts'
  | 'close'
  | 'help'
  | 'palette'
  | 'find'
  | 'legend'
  | 'select'
  | Side
  | ViewKey;

type ViewKey = 'context' | 'intervene' | 'branch-drawing' | Exclude<Show, 'branches'>;

const ACTIONS: Readonly<Record<string, KeyAction>> = {
  j: 'older',
  ArrowDown: 'older',
  ArrowLeft: 'older',
  k: 'newer',
  ArrowUp: 'newer',
  ArrowRight: 'newer',
  f: 'follow',
  o: 'open',
  '[': 'above',
  ']': 'below',
  v: 'view',
  m: 'texts',
  c: 'cycles',
  b: 'branches',
  i: 'interventions',
  Escape: 'close',
  a: 'intervene',
  h: 'runs',
  u: 'call',
  x: 'context',
  t: 'time',
  d: 'compare',
  r: 'rerun',
  p: 'pool',
  g: 'branch-drawing',
  w: 'calls',
  s: 'stages',
  e: 'events',
  y: 'system',
  l: 'legend',
  n: 'select',
  '/': 'find',
  '?': 'help',
  'Ctrl k': 'palette',
};

/** What keys do where the filmstrip stands: it knows the calls. */
export type StripAction = 'next left' | 'next failed';

const STRIP_ACTIONS: Readonly<Record<string, StripAction>> = { '-': 'next left', '!': 'next failed' };

/** What keys do, with the key and its words. */
export const KEY_ACTIONS: readonly {
  readonly action: KeyAction;
  readonly key: string;
  readonly words: string;
}[] = KEYS.flatMap(([keys, words]) => {
  const [key = ''] = keys;
  const action = ACTIONS[key];
  return action === undefined ? [] : [{ action, key, words }];
});

/** Calls `onAction` for keys that have an effect, unless the user is typing or a dialog is open. */
export const useKeys = (onAction: (action: KeyAction) => void): void => usePressed(ACTIONS, onAction);

/** The same for the keys of the filmstrip. */
export const useStripKeys = (onAction: (action: StripAction) => void): void =>
  usePressed(STRIP_ACTIONS, onAction);

const usePressed = <T extends string>(
  actions: Readonly<Record<string, T>>,
  onAction: (action: T) => void,
): void => {
  const latest = useRef(onAction);
  latest.current = onAction;
  useEffect(() => {
    const pressed = (event: KeyboardEvent): void => {
      // What is behind a dialog hears no key, wherever the focus is.
      if (document.querySelector('dialog[open]') !== null) return;
      const isControlled = event.ctrlKey || event.metaKey;
      const action = actions[isControlled ? `Ctrl ${event.key}` : event.key];
      if (action === undefined || event.defaultPrevented || event.altKey) return;
      const target = event.target;
      const isTyping =
        target instanceof Element && target.closest('input, textarea, select, dialog') !== null;
      if (isTyping && !isControlled) return;
      const scrolls =
        event.key.startsWith('Arrow') &&
        target instanceof Element &&
        target.closest('.pane, .detail-body') !== null;
      if (scrolls) return;
      event.preventDefault();
      latest.current(action);
    };
    addEventListener('keydown', pressed);
    return () => removeEventListener('keydown', pressed);
  }, []);
};

/** The table of keys, as a dialog. */
export const KeysHelp = ({ close }: { readonly close: () => void }): ComponentChildren => {
  const dialog = useDialogAtTop();
  return (
    <dialog
      ref={dialog}
      class="keys"
      aria-labelledby="keys-title"
      onClose={close}
      onClick={({ target }) => target === dialog.current && close()}
    >
      <h2 id="keys-title">Keys</h2>
      <table>
        <tbody>
          {KEYS.map(([keys, what]) => (
            <tr key={what}>
              <th scope="row">
                {keys.map((key) => (
                  <kbd key={key}>{key}</kbd>
                ))}
              </th>
              <td>{what}</td>
            </tr>
          ))}
        </tbody>
      </table>
      <form method="dialog">
        <button autofocus>Close</button>
      </form>
    </dialog>
  );
};
