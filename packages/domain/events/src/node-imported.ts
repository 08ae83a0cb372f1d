import { z } from 'zod';
import { count, id } from './node-shape.ts';
import { node } from './recorded-node.ts';

/**
 * A node of an export became part of the tree unchanged: root and regions too (`parent` null for the root), turns with
 * their descendants, parents first, in canonical order (context-tree §4, §10.17). `ordinal` distinguishes the turns of
 * one import: their location is (cycle of the import, ordinal).
 */
export const NodeImported = z.strictObject({
  type: z.literal('NodeImported'),
  parent: id.nullable(),
  node,
  expires: count.nullable(),
  ordinal: count.optional(),
});
