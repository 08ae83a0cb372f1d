import { NODE_KIND } from './flat-tree.ts';

/** The canonical types of nodes below the regions (context-tree §1). */
export type CanonicalType = 'mt' | 'mc' | 'cb';

/**
 * The canonical type of a canonical or user type, or undefined for any other text. A user type has a name on both sides
 * of its first `:`; all but `mt:…` and `mc:…` are blocks (context-tree §10.1).
 */
export const canonicalType = (nodeType: string): CanonicalType | undefined => {
  if (nodeType === 'cb' || nodeType === 'mc' || nodeType === 'mt') return nodeType;
  const colon = nodeType.indexOf(':');
  if (colon <= 0 || colon === nodeType.length - 1 || nodeType.startsWith('^')) return undefined;
  const before = nodeType.slice(0, colon);
  return before === 'mt' || before === 'mc' ? before : 'cb';
};

/** The {@link NODE_KIND} of a node below the regions, by its type. */
export const kindOfType = (nodeType: string): number => {
  const type = canonicalType(nodeType);
  return type === 'mt' ? NODE_KIND.turn : type === 'mc' ? NODE_KIND.container : NODE_KIND.block;
};
