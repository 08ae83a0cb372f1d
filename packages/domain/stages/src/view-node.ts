import type { ExactJson } from './exact-json.ts';

export const ROOT_ID = 'ctrees:root';

/** A node of the tree view. */
export type TreeViewNode = {
  readonly id: string;
  readonly parent_id: string | null;
  readonly kind: string;
  readonly turn: ExactJson;
  readonly label: string;
  readonly meta: { readonly [name: string]: ExactJson };
};
