import type { ApiClient, TreeNodeAnswer, TreePage } from '@stemma/api';
import { keyOfPosition, useQuery, type Query } from '../asking/queries.ts';

/** How many nodes are requested from the front and the end of a tree, and how many characters of each content. */
const FRONT = 60;
export const TAIL = 340;
const EXCERPT = 4_000;
/** How many of the nodes left out are requested at a time. */
export const MORE = 400;

const at = (reference: string | undefined): { at?: string } =>
  reference === undefined ? {} : { at: reference };

/** The tree at a position: all of it if it is small, else its front and its end with the newest nodes. */
export const useTree = (history: string, reference: string | undefined, tail: number): Query<TreePage> =>
  useQuery(
    keyOfPosition(history, reference, `tree/${tail}`),
    (client) => client.tree({ history, ...at(reference), limit: FRONT, tail, excerpt: EXCERPT }),
    history,
  );

/** Any other request about a position. */
export const usePosition = <T>(
  history: string,
  reference: string | undefined,
  part: string,
  load: (client: ApiClient, at: { at?: string }) => Promise<T>,
): Query<T> =>
  useQuery(
    keyOfPosition(history, reference, part),
    (client) => load(client, at(reference)),
    `${history}/${part}`,
  );

/** A row of a tree or thread: a node, or how many were left out here. */
export type NodeOrGap = { readonly node: TreeNodeAnswer } | { readonly gap: number };

/** The nodes with the gaps between them. */
export const rowsOf = ({ nodes }: Pick<TreePage, 'nodes'>): readonly NodeOrGap[] => {
  const rows: NodeOrGap[] = [];
  let next = 0;
  for (const node of nodes) {
    if (node.index > next) rows.push({ gap: node.index - next });
    rows.push({ node });
    next = node.index + 1;
  }
  return rows;
};
