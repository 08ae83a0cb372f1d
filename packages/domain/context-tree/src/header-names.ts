import type { Headers } from './node.ts';

/** The headers that are stored with a node; the others of context-tree §2 are computed. */
const KEPT = new Set<string>([
  'id',
  'nodeType',
  'offset',
  'ttl',
  'priority',
  'cycle',
  'created_at_ns',
  'creation_index',
  'role',
  'kind',
  'key',
  'removable',
  'refs',
  'provenance',
] satisfies (keyof Headers)[]);

/** True for the attributes that are headers: they have a meaning and a type (context-tree §2). */
export const isHeaderName = (name: string): boolean =>
  KEPT.has(name) || name === 'created_at_iso' || name === 'content_hash';
