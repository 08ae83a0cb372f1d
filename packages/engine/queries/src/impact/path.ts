import type { Impact, TaintedBlock, TaintedCall } from './types.ts';

/** One step back from a call: the block that it was shown, and why that block counts to the intervention. */
export type PathStep = Pick<TaintedBlock, 'id' | 'reason' | 'depth'>;

/** The blocks of an impact by id and depth, which name them on a path. */
const indexes = new WeakMap<Impact, ReadonlyMap<string, TaintedBlock>>();

const indexOf = (impact: Impact): ReadonlyMap<string, TaintedBlock> => {
  const known = indexes.get(impact);
  if (known !== undefined) return known;
  // A replaced block has an entry for each of its contents; a path names the one of its depth.
  const made = new Map(impact.blocks.map((block) => [`${block.id} ${block.depth}`, block]));
  indexes.set(impact, made);
  return made;
};

/**
 * The shortest path of reasons from a call back to the intervention, nearest first: each block with its reason; the
 * last is one that the intervention inserted. At most `limit` steps.
 */
export const pathTo = (impact: Impact, call: TaintedCall, limit = Infinity): readonly PathStep[] => {
  const blocks = indexOf(impact);
  const path: PathStep[] = [];
  let next = blocks.get(`${call.through} ${call.depth}`);
  while (next !== undefined && path.length < limit) {
    const { id, reason, depth } = next;
    path.push({ id, reason, depth });
    if (reason.kind === 'brought') break;
    next = blocks.get(`${reason.kind === 'answer' ? reason.through : reason.to} ${depth - 1}`);
  }
  return path;
};
