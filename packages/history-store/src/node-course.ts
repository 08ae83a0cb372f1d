import type { RowReader } from '@stemma/row-store';
import type { Link } from './chain.ts';
import { isTombstone, REGION } from './records.ts';
import { IDS } from './tables.ts';

/** A frame in which a node came, went, changed or moved. */
export type NodeStep = {
  readonly seq: number;
  readonly strand: number;
  /** What it lies in after the frame; null: it is gone. */
  readonly lies: 'sys' | 'turn' | 'fixed' | 'turnItself' | null;
};

const liesIn = (region: number): NodeStep['lies'] => {
  if (region === REGION.sys) return 'sys';
  if (region === REGION.turn) return 'turn';
  return region === REGION.fixed ? 'fixed' : 'turnItself';
};

/** The frames on a chain that wrote a row for a node, oldest first; the first is the one that brought it. */
export const nodeCourse = (
  rows: RowReader,
  history: string,
  chain: readonly Link[],
  id: string,
): readonly NodeStep[] => {
  const limits = new Map(chain.map(({ strand, limit }) => [strand, limit]));
  return rows
    .range(IDS, { prefix: [history, id] })
    .filter(({ key }) => (key[2] as number) <= (limits.get(key[3] as number) ?? -1))
    .map(({ key, value }) => ({
      seq: key[2] as number,
      strand: key[3] as number,
      lies: isTombstone(value) ? null : liesIn(value[0] as number),
    }));
};
