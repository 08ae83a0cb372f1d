import { HIDDEN_CHARACTERS } from '@stemma/errors';
import type { ComponentChildren } from 'preact';

const MAX_CHARACTERS = 200_000;

/** A text from outside, shown so that it hides nothing: as text only, invisible characters by their code points. */
export const SafeText = ({ text }: { readonly text: string }): ComponentChildren => {
  const shown = text.length > MAX_CHARACTERS ? text.slice(0, MAX_CHARACTERS) : text;
  const parts: ComponentChildren[] = [];
  let from = 0;
  for (const match of shown.matchAll(HIDDEN_CHARACTERS)) {
    parts.push(shown.slice(from, match.index));
    const code = (match[0].codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0');
    parts.push(
      <span class="hidden-character" title={`U+${code}`}>
        {code}
      </span>,
    );
    from = match.index + match[0].length;
  }
  parts.push(shown.slice(from));
  if (text.length > MAX_CHARACTERS)
    parts.push(<span class="cut">… {text.length - MAX_CHARACTERS} more characters</span>);
  return <bdi class="safe-text">{parts}</bdi>;
};

/** The same for places that take a plain text only, such as titles and options: invisible characters by their code points. */
export const visible = (text: string): string =>
  text
    .slice(0, 1_000)
    .replace(
      HIDDEN_CHARACTERS,
      (found) => `‹${(found.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0')}›`,
    );
