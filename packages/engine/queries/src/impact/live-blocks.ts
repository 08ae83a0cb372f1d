import type { TaintedBlock } from './types.ts';

/** A block that the intervention inserted, or one made from such a block, as it is now. */
export type LiveBlock = {
  readonly block: TaintedBlock;
  readonly payload: number;
  readonly expires: number | null;
  readonly pre: 'always' | number | 'never';
};

/** How many of them a prompt holds, and the one that is nearest to the intervention. */
export type PromptContents = {
  readonly direct: number;
  readonly derived: number;
  readonly nearest: TaintedBlock;
};

/** The living blocks: each prompt costs only what has changed since the one before. */
export type LiveBlocks = {
  readonly get: (id: string) => LiveBlock | undefined;
  readonly put: (live: LiveBlock) => void;
  readonly drop: (id: string) => void;
  /** What the prompt of a cycle holds; cycles must not decrease. `turn`: the cycle of the newest turn. */
  readonly promptOf: (cycle: number, turn: number) => PromptContents | null;
  /** The blocks of a prompt that the intervention itself inserted; must be called right after `promptOf`. */
  readonly direct: (cycle: number, turn: number) => readonly LiveBlock[];
  readonly all: () => Iterable<LiveBlock>;
};

/** For the full thread, which shows every living block. Blocks are kept by depth and expire by cycle. */
export const openFullThread = (): LiveBlocks => {
  const live = new Map<string, LiveBlock>();
  const depths = new Map<number, Set<LiveBlock>>();
  const expiring = new Map<number, LiveBlock[]>();
  let [direct, derived, lowest, expiredUntil] = [0, 0, 0, 0];

  const removeFromCounts = (one: LiveBlock): void => {
    if (depths.get(one.block.depth)?.delete(one) !== true) return;
    if (one.block.depth === 0) direct--;
    else derived--;
  };
  const drop = (id: string): void => {
    const one = live.get(id);
    if (one === undefined) return;
    live.delete(id);
    removeFromCounts(one);
  };
  const put = (one: LiveBlock): void => {
    drop(one.block.id);
    live.set(one.block.id, one);
    if (one.expires !== null && one.expires <= expiredUntil) return;
    const { depth } = one.block;
    const same = depths.get(depth) ?? new Set();
    depths.set(depth, same.add(one));
    if (depth === 0) direct++;
    else derived++;
    lowest = Math.min(lowest, depth);
    if (one.expires === null) return;
    const expiringThen = expiring.get(one.expires);
    if (expiringThen === undefined) expiring.set(one.expires, [one]);
    else expiringThen.push(one);
  };
  const promptOf = (cycle: number): PromptContents | null => {
    for (; expiredUntil < cycle; expiredUntil++) {
      for (const one of expiring.get(expiredUntil + 1) ?? []) removeFromCounts(one);
      expiring.delete(expiredUntil + 1);
    }
    if (direct + derived === 0) return null;
    for (;;) {
      const [first] = depths.get(lowest) ?? [];
      if (first !== undefined) return { direct, derived, nearest: first.block };
      lowest++;
    }
  };
  const directNow = (): readonly LiveBlock[] => [...(depths.get(0) ?? [])];
  return { get: (id) => live.get(id), put, drop, promptOf, direct: directNow, all: () => live.values() };
};

/** For `thread: "pre"`, which shows the system header and the blocks before the core of the newest turn. */
export const openPreThread = (): LiveBlocks => {
  const live = new Map<string, LiveBlock>();
  const always = new Map<string, LiveBlock>();
  const turns = new Map<number, Map<string, LiveBlock>>();
  const bucketOf = ({ pre }: LiveBlock): Map<string, LiveBlock> | undefined => {
    if (pre === 'never') return undefined;
    if (pre === 'always') return always;
    const known = turns.get(pre) ?? new Map<string, LiveBlock>();
    turns.set(pre, known);
    return known;
  };
  const drop = (id: string): void => {
    const one = live.get(id);
    if (one === undefined) return;
    live.delete(id);
    bucketOf(one)?.delete(id);
  };
  const put = (one: LiveBlock): void => {
    drop(one.block.id);
    live.set(one.block.id, one);
    bucketOf(one)?.set(one.block.id, one);
  };
  const shownBlocks = (cycle: number, turn: number): readonly LiveBlock[] =>
    [...always.values(), ...(turns.get(turn)?.values() ?? [])].filter(
      ({ expires }) => expires === null || expires > cycle,
    );
  const promptOf = (cycle: number, turn: number): PromptContents | null => {
    let [direct, derived] = [0, 0];
    let nearest: TaintedBlock | undefined;
    for (const { block } of shownBlocks(cycle, turn)) {
      if (block.depth === 0) direct++;
      else derived++;
      if (nearest === undefined || block.depth < nearest.depth) nearest = block;
    }
    return nearest === undefined ? null : { direct, derived, nearest };
  };
  const directNow = (cycle: number, turn: number): readonly LiveBlock[] =>
    shownBlocks(cycle, turn).filter(({ block }) => block.depth === 0);
  return { get: (id) => live.get(id), put, drop, promptOf, direct: directNow, all: () => live.values() };
};
