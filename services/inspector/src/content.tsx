import { excerptOf, fromWireJson, toWireJson, type Excerpt } from '@stemma/api';
import type { ComponentChildren } from 'preact';
import { SafeText } from './safe-text.tsx';

/** A content, or its beginning. A text is shown as it is; other values as JSON with an indentation. */
export const Content = ({ content }: { readonly content: Excerpt }): ComponentChildren => (
  <pre class={`content ${content.form}`}>
    <SafeText
      text={content.form === 'json' && content.complete ? indented(content.text, true) : content.text}
    />
    {!content.complete && <span class="cut">…</span>}
    {content.text === '' && <span class="quiet">(an empty text)</span>}
  </pre>
);

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

/**
 * JSON text with an indentation; digits of large integers stay what they are. `isOpened`: arguments of tool calls that are a
 * text of JSON are shown as the JSON that they are.
 */
export const indented = (text: string, isOpened = false): string => {
  try {
    return indent(fromWireJson(text), '', isOpened);
  } catch {
    return text;
  }
};

const indent = (value: unknown, space: string, isOpened: boolean): string => {
  const inner = space + '  ';
  if (Array.isArray(value))
    return value.length === 0
      ? '[]'
      : `[\n${value.map((item) => inner + indent(item, inner, isOpened)).join(',\n')}\n${space}]`;
  if (typeof value !== 'object' || value === null) return toWireJson(value);
  const pairs = Object.entries(value).map(
    ([key, item]) =>
      `${inner}${JSON.stringify(key)}: ${(isOpened && key === 'arguments' ? argumentsIn(item, inner) : undefined) ?? indent(item, inner, isOpened)}`,
  );
  return pairs.length === 0 ? '{}' : `{\n${pairs.join(',\n')}\n${space}}`;
};

/** The arguments of a tool call that are written as a text of JSON, as the JSON that they are. */
const argumentsIn = (value: unknown, space: string): string | undefined => {
  if (typeof value !== 'string' || !/^\s*[[{]/.test(value)) return undefined;
  try {
    return indent(fromWireJson(value), space, true);
  } catch {
    return undefined;
  }
};
