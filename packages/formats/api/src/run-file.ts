import type { RemovedNode, TreeNodeAnswer } from './questions/tree.ts';
import type { Excerpt } from './tree.ts';
import { fromWireJson, toWireJson } from './wire-json.ts';

/** Calls of a branch in one page: answers as a server gave them, which its filmstrip and call cards read. */
export type RunFile = {
  /** What people call the history or branch. */
  readonly title: string;
  /** The address of the branch. */
  readonly branch: string;
  /** The first and the last call. */
  readonly from: number;
  readonly to: number;
  /** Texts in which something was redacted; null: the home has no rules. */
  readonly redacted: number | null;
  /** By {@link runFileKey}: answers as JSON. */
  readonly answers: Readonly<Record<string, string>>;
  /** Contents of trees, each once, as JSON. */
  readonly contents: readonly string[];
};

/** The key of an answer: the address of the question without its query, and the position that it is asked about. */
export const runFileKey = (path: string, at?: string): string => (at === undefined ? path : `${path} ${at}`);

/** A tree of which each content is a number. */
type Numbered = { readonly content: number | Excerpt | null };

/** Keeps each content of trees once. */
export const openContents = () => {
  const contents: string[] = [];
  const known = new Map<string, number>();
  const numbered = <Node extends { readonly content: Excerpt | null }>(nodes: readonly Node[]) =>
    nodes.map((node) => {
      if (node.content === null) return node;
      const text = toWireJson(node.content);
      const number = known.get(text) ?? contents.push(text) - 1;
      known.set(text, number);
      return { ...node, content: number };
    });
  return {
    contents,
    /** The answer about a tree as JSON, with numbers in place of contents. */
    treeText: (page: {
      readonly nodes: readonly TreeNodeAnswer[];
      readonly removed: readonly RemovedNode[];
    }): string => toWireJson({ ...page, nodes: numbered(page.nodes), removed: numbered(page.removed) }),
  };
};

/** The answer to a request of the page, as JSON; undefined: the file does not have it. */
export const answerInRunFile = ({ answers, contents }: RunFile, address: string): string | undefined => {
  const [path = '', query = ''] = address.split('?');
  const at = new URLSearchParams(query).get('at') ?? undefined;
  const text = answers[runFileKey(path, at)] ?? answers[path];
  if (text === undefined || !path.endsWith('/tree')) return text;
  const page = fromWireJson(text) as {
    readonly nodes: readonly Numbered[];
    readonly removed: readonly Numbered[];
  };
  const whole = (nodes: readonly Numbered[]) =>
    nodes.map((node) =>
      typeof node.content === 'number'
        ? { ...node, content: fromWireJson(contents[node.content] ?? 'null') }
        : node,
    );
  return toWireJson({ ...page, nodes: whole(page.nodes), removed: whole(page.removed) });
};
