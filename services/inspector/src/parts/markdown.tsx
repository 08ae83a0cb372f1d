import { fromMarkdown } from 'mdast-util-from-markdown';
import { gfmTableFromMarkdown } from 'mdast-util-gfm-table';
import { gfmTable } from 'micromark-extension-gfm-table';
import type { ComponentChildren } from 'preact';
import { useMemo } from 'preact/hooks';
import { pictureOf } from '../page/find-pictures.ts';
import { Picture } from '../page/pictures.tsx';
import { SafeText } from './safe-text.tsx';

type Root = ReturnType<typeof fromMarkdown>;
type Node = Root['children'][number];

/** The parser's time grows with the square of a text of nothing but marks: quotations and rows of tables are the worst. */
const MOST_CHARACTERS = 30_000;
const COSTLY = /^(?:[ \t]*>){30}|^(?:[^|\n]*\|){200}/m;

/**
 * A text as the Markdown that it may be. Every element is made here from the parsed text: HTML in it stays text, pictures
 * of other hosts are not fetched, and of links only those to the web can be followed.
 */
export const Markdown = ({ text }: { readonly text: string }): ComponentChildren => {
  const root = useMemo(
    () => (text.length > MOST_CHARACTERS || COSTLY.test(text) ? undefined : parsed(text)),
    [text],
  );
  return root === undefined ? (
    <pre class="content text">
      <SafeText text={text} />
    </pre>
  ) : (
    <div class="markdown">{all(root.children)}</div>
  );
};

const parsed = (text: string): Root | undefined => {
  try {
    return fromMarkdown(text, { extensions: [gfmTable()], mdastExtensions: [gfmTableFromMarkdown()] });
  } catch {
    return undefined; // nested deeper than the engine's stack
  }
};

const all = (nodes: readonly Node[]): ComponentChildren =>
  nodes.map((node, at) => <One key={at} node={node} />);

const One = ({ node }: { readonly node: Node }): ComponentChildren => {
  switch (node.type) {
    case 'text':
      return <SafeText text={node.value} />;
    case 'paragraph':
      return <p>{all(node.children)}</p>;
    case 'heading':
      return (
        <p class={`heading heading-${node.depth}`} role="heading" aria-level={Math.min(6, node.depth + 3)}>
          {all(node.children)}
        </p>
      );
    case 'emphasis':
      return <em>{all(node.children)}</em>;
    case 'strong':
      return <strong>{all(node.children)}</strong>;
    case 'inlineCode':
      return (
        <code>
          <SafeText text={node.value} />
        </code>
      );
    case 'code':
      return (
        <pre>
          <SafeText text={node.value} />
        </pre>
      );
    case 'html':
      return (
        <code class="html">
          <SafeText text={node.value} />
        </code>
      );
    case 'blockquote':
      return <blockquote>{all(node.children)}</blockquote>;
    case 'list':
      return node.ordered === true ? (
        <ol start={node.start ?? 1}>{all(node.children)}</ol>
      ) : (
        <ul>{all(node.children)}</ul>
      );
    case 'listItem':
      return <li>{all(node.children)}</li>;
    case 'break':
      return <br />;
    case 'thematicBreak':
      return <hr />;
    case 'link':
      return <Link url={node.url}>{all(node.children)}</Link>;
    case 'image': {
      const picture = pictureOf(node.url);
      return picture === undefined ? (
        <span class="quiet">
          [picture <SafeText text={`${node.alt ?? ''} (${node.url})`} />]
        </span>
      ) : (
        <Picture picture={picture} words={`Picture: ${node.alt ?? ''}`} />
      );
    }
    case 'table':
      return (
        <table>
          <tbody>{all(node.children)}</tbody>
        </table>
      );
    case 'tableRow':
      return <tr>{all(node.children)}</tr>;
    case 'tableCell':
      return <td>{all(node.children)}</td>;
    case 'linkReference':
      return all(node.children);
    case 'imageReference':
      return <SafeText text={`[picture ${node.alt ?? node.identifier}]`} />;
    case 'definition':
      return (
        <p class="quiet">
          [<SafeText text={node.identifier} />
          ]: <SafeText text={node.url} />
        </p>
      );
    default:
      // Of extensions that the parser is not given: footnotes, strikethrough, front matter.
      return null;
  }
};

/** Where a link leads is said beside it, as its words may say otherwise. */
const Link = ({
  url,
  children,
}: {
  readonly url: string;
  readonly children: ComponentChildren;
}): ComponentChildren => (
  <>
    {/^https?:\/\//i.test(url) ? (
      <a href={url} target="_blank" rel="noreferrer noopener nofollow">
        {children}
      </a>
    ) : (
      children
    )}{' '}
    <span class="quiet">
      (<SafeText text={url} />)
    </span>
  </>
);
