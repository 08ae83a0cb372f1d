import type { RowReader } from '@stemma/row-store';
import { readChain } from './chain.ts';
import { nearestMark } from './mark.ts';
import { nodeReader, type FoundNode } from './node-reader.ts';

/**
 * One node at a position without reading the rest; undefined if it is not there at this position.
 *
 * @throws E_HISTORY_NOT_FOUND, E_LINEAGE_NOT_FOUND
 */
export const readNode = (
  rows: RowReader,
  history: string,
  strand: number,
  seq: number,
  id: string,
): FoundNode | undefined => {
  const chain = readChain(rows, history, strand, seq);
  const { cycle } = nearestMark(rows, history, strand, seq).mark;
  return nodeReader(rows, { history, chain, cycle })(id);
};
