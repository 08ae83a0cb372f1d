import { isForbiddenKey } from '@stemma/canonical';
import type { Headers } from '@stemma/context-tree';
import { z } from 'zod';

/** The headers of every recorded node; `content`, `content_*`, `data_*` and unknown attributes are beside them. */
export type RecordedNode = Headers & { readonly [attribute: string]: unknown };

const isText = (value: unknown): boolean => typeof value === 'string' && value !== '';
const isInteger = (value: unknown): boolean => Number.isSafeInteger(value);
const isCount = (value: unknown): boolean => Number.isSafeInteger(value) && (value as number) >= 0;
const isNullableText = (value: unknown): boolean => value === null || typeof value === 'string';
const isTime = (value: unknown): boolean => typeof value === 'bigint' || Number.isSafeInteger(value);

const REQUIRED: readonly (readonly [name: string, check: (value: unknown) => boolean])[] = [
  ['id', isText],
  ['nodeType', isText],
  ['offset', isInteger],
  ['ttl', (value) => value === null || isCount(value)],
  ['priority', Number.isFinite],
  ['cycle', isInteger],
  ['created_at_ns', isTime],
  ['creation_index', isCount],
];

const OPTIONAL: readonly (readonly [name: string, check: (value: unknown) => boolean])[] = [
  ['role', isNullableText],
  ['kind', isNullableText],
  ['key', isNullableText],
  ['removable', (value) => value === null || typeof value === 'boolean'],
  [
    'refs',
    (value) => value === null || (Array.isArray(value) && value.every((ref) => typeof ref === 'string')),
  ],
];

/** The name of the first header with a wrong type, or undefined. */
const faultIn = (value: unknown): string | undefined => {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return 'the node';
  const node = value as { readonly [name: string]: unknown };
  for (const [name, check] of REQUIRED) if (!check(node[name])) return name;
  for (const [name, check] of OPTIONAL) if (node[name] !== undefined && !check(node[name])) return name;
  for (const name in node) if (isForbiddenKey(name)) return name;
  return undefined;
};

/**
 * A recorded node. Most events of a history hold one, so its headers are checked by hand: a loose zod object takes five
 * times as long. Small times are decoded as numbers; they are returned as bigints.
 */
export const node = z.unknown().transform((value, context): RecordedNode => {
  const fault = faultIn(value);
  if (fault !== undefined) {
    context.addIssue({ code: 'custom', message: `${fault} is not of its type` });
    return z.NEVER;
  }
  const given = value as RecordedNode;
  return typeof given.created_at_ns === 'bigint'
    ? given
    : { ...given, created_at_ns: BigInt(given.created_at_ns) };
});
