import type { ComponentChildren } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import type { Go } from '../page/address.ts';
import { SafeText } from '../parts/safe-text.tsx';
import { keyOfPosition, useQuery } from '../asking/queries.ts';
import { grouped } from '../parts/words.ts';

/** Milliseconds without a key after which the server is asked. */
const PAUSE = 200;

/** How a selector may go on, by what it ends with. */
const PIECES: readonly (readonly [text: string, words: string])[] = [
  ['^sys', 'the system header'],
  ['^seq', 'the sealed turns'],
  ['^ah', 'the active head'],
  ['.mt', 'turns'],
  ['.mc', 'containers'],
  ['.cb', 'blocks'],
  ['depth(1)', 'the newest turn'],
  ["[role='user']", 'what a user says'],
  ["[role='assistant']", 'what the model says'],
  ["[role='tool']", 'what a tool says'],
  ["[role='system']", 'instructions'],
  ["[kind='call']", 'calls of tools'],
  ["[kind='result']", 'results of tools'],
  [":contains('…')", 'a text in the content'],
  ["[content*='…']", 'a text in the content'],
  [':first', 'the first of each'],
  [':last', 'the last of each'],
  [':pre', 'before the core'],
  [':post', 'after the core'],
];

/** What a selector may go on with, as whole texts: a list of the browser shows those that begin with what is typed. */
const completions = (typed: string): readonly (readonly [text: string, words: string])[] => {
  const [, before = '', last = ''] = /^(.*?)([.^:[#]?[^\s>,.^:[\]#]*)$/s.exec(typed) ?? [];
  return PIECES.flatMap(([piece, words]) => {
    if (last !== '' && piece.startsWith(last)) return [[before + piece, words] as const];
    return last === '' || /[\])\w]$/.test(typed) ? [[typed + piece, words] as const] : [];
  });
};

/** Finds nodes of the tree by a selector: counts what it matches, and goes from match to match. */
export const SelectorBar = ({
  history,
  reference,
  selector,
  node,
  go,
}: {
  readonly history: string;
  readonly reference: string | undefined;
  readonly selector: string;
  readonly node: string | null;
  readonly go: Go;
}): ComponentChildren => {
  const [typed, setTyped] = useState(selector);
  useEffect(() => setTyped(selector), [selector]);
  useEffect(() => {
    if (typed === selector) return undefined;
    const timer = setTimeout(() => go({ select: typed.trim() === '' ? null : typed }, 'replace'), PAUSE);
    return () => clearTimeout(timer);
  }, [typed, selector]);
  const query = useMatches(history, reference, selector);
  const ids = query.state === 'done' ? query.value : [];
  const now = node === null ? -1 : ids.indexOf(node);
  const walk = (step: number): void => {
    if (ids.length === 0) return;
    const next = now === -1 ? (step > 0 ? 0 : ids.length - 1) : (now + step + ids.length) % ids.length;
    go({ node: ids[next] ?? null }, 'replace');
  };
  const failed = query.state === 'failed' && selector !== '' ? query.error : null;
  const at = failed?.detail['at'] ?? failed?.detail['position'] ?? failed?.detail['offset'];
  return (
    <div class="selector-bar" role="search" aria-label="Nodes of the tree">
      <input
        aria-label="Selector"
        list="selector-pieces"
        placeholder="a selector: ^seq .cb[role='tool']"
        value={typed}
        spellcheck={false}
        autocomplete="off"
        aria-invalid={failed !== null}
        onInput={({ currentTarget }) => setTyped(currentTarget.value)}
        onKeyDown={(event) => {
          if (event.key !== 'Enter') return;
          event.preventDefault();
          walk(event.shiftKey ? -1 : 1);
        }}
      />
      <datalist id="selector-pieces">
        {completions(typed).map(([text, words]) => (
          <option key={text} value={text}>
            {words}
          </option>
        ))}
      </datalist>
      {selector !== '' && failed === null && (
        <span class="tabs" role="status">
          <span class="quiet">
            {query.state === 'pending'
              ? '…'
              : now === -1
                ? grouped(ids.length)
                : `${now + 1} of ${grouped(ids.length)}`}
          </span>
          <button class="plain" aria-label="The match before" onClick={() => walk(-1)}>
            ↑
          </button>
          <button class="plain" aria-label="The next match" onClick={() => walk(1)}>
            ↓
          </button>
        </span>
      )}
      {failed !== null && (
        <p class="selector-fault" role="alert">
          {typeof at === 'number' && (
            <code aria-hidden="true">
              {' '.repeat(Math.max(0, at - (reference === undefined ? 0 : reference.length + 1)))}^
            </code>
          )}
          <SafeText text={failed.message} /> <span class="quiet">{failed.code}</span>
        </p>
      )}
    </div>
  );
};

/** The ids of the nodes that a selector matches at a position, in document order. */
export const useMatches = (history: string, reference: string | undefined, selector: string) =>
  useQuery(
    keyOfPosition(history, reference, `select/${selector}`),
    async (client): Promise<readonly string[]> => {
      if (selector === '') return [];
      const marked =
        reference === undefined || selector.startsWith('@') ? selector : `${reference} ${selector}`;
      return (await client.select({ history, selector: marked })).ids;
    },
    `${history}/select/${selector}`,
  );
