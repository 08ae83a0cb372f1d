import { excerptOf, fromWireJson, type Excerpt } from '@stemma/api';
import { createContext, type ComponentChildren } from 'preact';
import { useContext, useMemo } from 'preact/hooks';
import { JsonView } from './json-view.tsx';
import { Pictures } from '../page/pictures.tsx';
import { SafeText } from './safe-text.tsx';
import { useLoaded } from '../asking/use-loaded.ts';

/** How texts are shown: as they are, or as the Markdown or JSON that they may be. */
export const TextsAs = createContext<'plain' | 'rendered'>('plain');

/** A content, or its beginning: a text, or JSON that can be folded, and its pictures. */
export const Content = ({ content }: { readonly content: Excerpt }): ComponentChildren => {
  const isRendered = useContext(TextsAs) === 'rendered';
  const { text, form, complete } = content;
  const mayBeJson = complete && (form === 'json' || (isRendered && /^\s*[[{]/.test(text)));
  const json = useMemo(() => (mayBeJson ? parsed(text) : undefined), [text, mayBeJson]);
  if (json !== undefined)
    return (
      <>
        <JsonView value={json.value} />
        <Pictures content={json.value} />
      </>
    );
  if (form === 'text' && isRendered && text !== '')
    return (
      <>
        <Rendered text={text} />
        {!complete && <p class="cut">…</p>}
      </>
    );
  return (
    <pre class={`content ${form}`}>
      <SafeText text={text} />
      {!complete && <span class="cut">…</span>}
      {text === '' && <span class="quiet">(an empty text)</span>}
    </pre>
  );
};

const parsed = (text: string): { readonly value: unknown } | undefined => {
  try {
    return { value: fromWireJson(text) };
  } catch {
    return undefined;
  }
};

/** The text as it is until what renders it is here. */
const Rendered = ({ text }: { readonly text: string }): ComponentChildren => {
  const { value } = useLoaded('markdown', () => import('./markdown.tsx'));
  return value === undefined ? (
    <pre class="content text">
      <SafeText text={text} />
    </pre>
  ) : (
    <value.Markdown text={text} />
  );
};

/** Named values one below the other, each whole under its name. */
export const Contents = ({
  values,
}: {
  readonly values: Readonly<Record<string, unknown>>;
}): ComponentChildren =>
  Object.entries(values).map(([name, value]) => {
    const content = excerptOf(value);
    return (
      <section key={name}>
        <h3>
          <SafeText text={name} />
        </h3>
        {content !== null && <Content content={content} />}
      </section>
    );
  });
