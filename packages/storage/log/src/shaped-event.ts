import type { StemmaEvent } from '@stemma/events';
import { callFinished, callStarted } from './shaped-call.ts';
import {
  hasKeys,
  isCount,
  isCountOrNull,
  isHash,
  isId,
  isMap,
  isText,
  isTextOrNull,
} from './shaped-values.ts';
import type { RawEvent } from './upcast.ts';

/*
 * Checks of recorded events by hand: schemas take ten times as long, and a replay would spend much of its time in them.
 * A check here returns an event only where the schema of its type returns the same; the schema judges the rest.
 */

type Shape = (event: RawEvent) => StemmaEvent | undefined;

/** A node whose headers all have their types, its time already a bigint. */
const isNode = (node: unknown): boolean =>
  isMap(node) &&
  isId(node['id']) &&
  isId(node['nodeType']) &&
  Number.isSafeInteger(node['offset']) &&
  isCountOrNull(node['ttl']) &&
  Number.isFinite(node['priority']) &&
  Number.isSafeInteger(node['cycle']) &&
  typeof node['created_at_ns'] === 'bigint' &&
  isCount(node['creation_index']) &&
  (node['role'] === undefined || isTextOrNull(node['role'])) &&
  (node['kind'] === undefined || isTextOrNull(node['kind'])) &&
  (node['key'] === undefined || isTextOrNull(node['key'])) &&
  (node['removable'] === undefined || node['removable'] === null || typeof node['removable'] === 'boolean') &&
  (node['refs'] === undefined || node['refs'] === null || isTexts(node['refs'])) &&
  !Object.hasOwn(node, '__proto__') &&
  !Object.hasOwn(node, 'constructor') &&
  !Object.hasOwn(node, 'prototype');

const isTexts = (value: unknown): boolean => Array.isArray(value) && value.every(isText);

const isCounts = (counts: unknown): boolean =>
  isMap(counts) &&
  isCount(counts['nodes']) &&
  isCount(counts['blocks']) &&
  isCount(counts['turns']) &&
  hasKeys(counts, 3);

const snapshot = (event: RawEvent): StemmaEvent | undefined => {
  const { type, cycle, treeHash, threadHash, counts } = event;
  const fits =
    isCount(cycle) && isHash(treeHash) && isHash(threadHash) && isCounts(counts) && hasKeys(event, 5);
  return fits ? ({ type, cycle, treeHash, threadHash, counts } as never) : undefined;
};

/** The most frequent events of a history. */
const SHAPES: ReadonlyMap<string, Shape> = new Map<string, Shape>([
  [
    'NodeInserted',
    (event) => {
      const { type, parent, node, expires } = event;
      const fits = isId(parent) && isCountOrNull(expires) && isNode(node) && hasKeys(event, 4);
      return fits ? ({ type, parent, node, expires } as never) : undefined;
    },
  ],
  [
    'TurnSealed',
    (event) => {
      const { type, turn } = event;
      return isNode(turn) && hasKeys(event, 2) ? ({ type, turn } as never) : undefined;
    },
  ],
  [
    'NodeExpired',
    (event) => {
      const { type, id } = event;
      return isId(id) && hasKeys(event, 2) ? ({ type, id } as never) : undefined;
    },
  ],
  [
    'NodeHeld',
    (event) => {
      const { type, id, by } = event;
      return isId(id) && isId(by) && hasKeys(event, 3) ? ({ type, id, by } as never) : undefined;
    },
  ],
  [
    'NodeCascaded',
    (event) => {
      const { type, id, why, by } = event;
      const fits = isId(id) && isId(by) && (why === 'contained' || why === 'emptied') && hasKeys(event, 4);
      return fits ? ({ type, id, why, by } as never) : undefined;
    },
  ],
  [
    'NodePruned',
    (event) => {
      const { type, id, rank, rule } = event;
      const fits = isId(id) && isCount(rank) && rule === 'max_blocks' && hasKeys(event, 4);
      return fits ? ({ type, id, rank, rule } as never) : undefined;
    },
  ],
  ['CallStarted', callStarted],
  ['CallFinished', callFinished],
  ['SnapshotCommitted', snapshot],
  ['SnapshotImported', snapshot],
]);

/** The event as its schema would return it, or undefined if only the schema can decide. */
export const shapedEvent = (type: string, event: RawEvent): StemmaEvent | undefined =>
  SHAPES.get(type)?.(event);

/** The types that {@link shapedEvent} can check. */
export const SHAPED_TYPES: readonly string[] = [...SHAPES.keys()];
