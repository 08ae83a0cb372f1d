import { fail } from '@stemma/errors';
import type { RowReader } from '@stemma/row-store';
import { STRANDS } from './tables.ts';

/** A strand on the way from the root to a position, and the last of its frames that counts there. */
export type Link = { readonly strand: number; readonly limit: number };

/** A lineage as its row has it. */
export type Strand = {
  readonly strand: number;
  readonly parent: { readonly strand: number; readonly at: number } | null;
  /** Where the mark lies that holds at its beginning; null for the root. */
  readonly mark: { readonly strand: number; readonly seq: number } | null;
  readonly name: string | null;
  readonly thread: 'full' | 'pre';
};

/** @throws E_LINEAGE_NOT_FOUND, or E_HISTORY_NOT_FOUND where there is not even a root. */
export const readStrand = (rows: RowReader, history: string, strand: number): Strand => {
  const value = rows.get(STRANDS, [history, strand]);
  if (value === undefined) {
    if (strand === 0) throw fail('E_HISTORY_NOT_FOUND', `there is no history ${history}`, { history });
    throw fail('E_LINEAGE_NOT_FOUND', `the history ${history} has no lineage ${strand}`, {
      history,
      lineage: strand,
    });
  }
  const [parent, at, markStrand, markSeq, name, thread] = value as [
    number | null,
    number,
    number,
    number,
    string | null,
    string,
  ];
  return {
    strand,
    parent: parent === null ? null : { strand: parent, at },
    mark: parent === null ? null : { strand: markStrand, seq: markSeq },
    name,
    thread: thread === 'pre' ? 'pre' : 'full',
  };
};

/**
 * The chain of a position, root first: the strand itself up to `seq`, every ancestor up to the smallest of the `at`s met
 * on the way (its own child's alone would let a grandparent's later frames in) (snapshots: branches).
 */
export const readChain = (rows: RowReader, history: string, strand: number, seq: number): readonly Link[] => {
  const chain: Link[] = [];
  let next: Strand['parent'] = { strand, at: seq };
  let limit = seq;
  while (next !== null) {
    limit = Math.min(limit, next.at);
    chain.push({ strand: next.strand, limit });
    next = readStrand(rows, history, next.strand).parent;
  }
  return chain.reverse();
};
