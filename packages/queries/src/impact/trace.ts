import type { BlockVersion } from '@stemma/history-store';
import type { Call, ImpactFacts, StrandFacts } from './impact-facts.ts';
import { fullThread, preThread, type LiveBlock, type LiveBlocks } from './live-blocks.ts';
import { openStretches } from './stretches.ts';
import type { Impact, LineageImpact, LostBlock, TaintedBlock, TaintedCall } from './types.ts';

/**
 * What an act led to: forward through the record, a block is of the act if the act brought it, if it is an answer to a
 * call whose prompt held such a block, or if it names one in its `refs`; a call is if its prompt holds one (docs/audit.md:
 * the law of impact). Pure; it costs what happened behind the act, not the size of any tree.
 */
export const traceImpact = (facts: ImpactFacts): Impact => {
  const blocks: TaintedBlock[] = [];
  const calls: TaintedCall[] = [];
  const lineages: LineageImpact[] = [];
  const shown = openStretches();
  const lost = lostBlocks(facts);
  const states = startsOf(facts);
  for (const strand of facts.strands) {
    const begun = states.get(strand.strand);
    if (begun === undefined) continue;
    const found = sweep(facts, strand, begun, {
      branches: facts.strands.filter(({ from }) => from?.strand === strand.strand),
      branch: (child, state) => states.set(child, state),
      block: (block) => blocks.push(block),
      call: (call, turn, direct) => {
        for (const one of lost) one.at(strand.strand, call.cycle, turn);
        for (const { block } of direct) shown.add(block.id, strand.strand, call.cycle);
      },
    });
    calls.push(...found);
    lineages.push(lineageImpact(strand, found));
  }
  calls.sort((a, b) => a.seq - b.seq);
  const direct = calls.filter((call) => call.direct > 0).length;
  const brought = blocks.filter(({ depth }) => depth === 0);
  return {
    brought: brought.map(({ id }) => ({
      id,
      calls: shown.of(id),
      still: shown.of(id).some(({ strand, last }) => newestCall(facts, strand) === last),
    })),
    calls,
    counts: { calls: calls.length, direct, derived: calls.length - direct },
    blocks,
    lost: lost.map((one) => one.told()),
    lineages,
  };
};

/** Where a lineage goes on: what is there of the act, what ever was, and how the newest call came out. */
type State = {
  readonly live: readonly LiveBlock[];
  readonly known: ReadonlyMap<string, TaintedBlock>;
  readonly cycle: number;
  readonly turn: number;
  readonly newest: TaintedCall | null;
};

const startsOf = ({ strands, cycle, turn }: ImpactFacts): Map<number, State> => {
  const first = strands[0];
  const none: State = { live: [], known: new Map(), cycle, turn, newest: null };
  return new Map(first === undefined ? [] : [[first.strand, none]]);
};

type Told = {
  readonly branches: readonly StrandFacts[];
  readonly branch: (strand: number, state: State) => void;
  readonly block: (block: TaintedBlock) => void;
  readonly call: (call: Call, turn: number, direct: readonly LiveBlock[]) => void;
};

/** One lineage, frame by frame: what a frame brings comes before the call that the same frame makes. */
const sweep = (facts: ImpactFacts, strand: StrandFacts, begun: State, told: Told): TaintedCall[] => {
  const live: LiveBlocks = facts.thread === 'full' ? fullThread() : preThread();
  const known = new Map(begun.known);
  let { cycle, turn, newest } = begun;
  live.promptOf(cycle, turn);
  for (const one of begun.live) live.put(one);
  const calls: TaintedCall[] = [];
  const branches = branchesInOrder(strand, told.branches);

  const branchUpTo = (seq: number): void => {
    for (let next = branches[0]; next !== undefined && next.at < seq; next = branches[0]) {
      branches.shift();
      told.branch(next.strand, { live: [...live.all()], known: new Map(known), cycle, turn, newest });
    }
  };
  const enter = (version: BlockVersion): void => {
    const { id, there } = version;
    if (there === null) {
      live.drop(id);
      return;
    }
    const { payload, expires, pre } = there;
    const before = live.get(id);
    if (before?.payload === payload) {
      live.put({ ...before, expires, pre });
      return;
    }
    live.drop(id);
    if (!there.made) return;
    const block = taintOf(facts, strand.strand, version, known, newest);
    if (block === null) return;
    known.set(id, nearer(known.get(id), block));
    told.block(block);
    live.put({ block, payload, expires, pre });
  };
  let next = 0;
  const enterUpTo = (seq: number): void => {
    for (; next < strand.versions.length; next++) {
      const version = strand.versions[next] as BlockVersion;
      if (version.from > seq) return;
      branchUpTo(version.from);
      enter(version);
    }
  };
  for (const call of strand.calls) {
    enterUpTo(call.seq);
    branchUpTo(call.seq);
    cycle = call.cycle;
    if (call.sealed) turn = call.cycle;
    const held = live.promptOf(cycle, turn);
    newest = null;
    if (held !== null) {
      const { direct, derived, nearest } = held;
      const { depth, id } = nearest;
      newest = { strand: strand.strand, cycle, seq: call.seq, direct, derived, depth, through: id };
      calls.push(newest);
    }
    told.call(call, turn, held === null || held.direct === 0 ? [] : live.direct(cycle, turn));
  }
  enterUpTo(Infinity);
  branchUpTo(Infinity);
  return calls;
};

const branchesInOrder = ({ strand }: StrandFacts, branches: readonly StrandFacts[]) =>
  branches
    .map((branch) => ({ strand: branch.strand, at: branch.from?.seq ?? strand }))
    .sort((a, b) => a.at - b.at || a.strand - b.strand);

/** Why a block that has come is of the act; null: it is not. Of several reasons the one nearest to the act. */
const taintOf = (
  facts: ImpactFacts,
  strand: number,
  { id, from, there }: BlockVersion,
  known: ReadonlyMap<string, TaintedBlock>,
  call: TaintedCall | null,
): TaintedBlock | null => {
  const own = { id, seq: from, strand };
  if (from === facts.seq) return { ...own, depth: 0, reason: { kind: 'brought' } };
  let nearest: TaintedBlock | null = null;
  for (const to of there?.refs ?? []) {
    const named = known.get(to);
    if (named !== undefined && named.depth + 1 < (nearest?.depth ?? Infinity))
      nearest = { ...own, depth: named.depth + 1, reason: { kind: 'refs', to } };
  }
  const answers = call !== null && there?.assistant === true && !facts.byActor(from);
  if (!answers || call.depth + 1 >= (nearest?.depth ?? Infinity)) return nearest;
  const { cycle, through } = call;
  const reason = { kind: 'answer', call: { strand: call.strand, cycle }, through } as const;
  return { ...own, depth: call.depth + 1, reason };
};

/** A block whose content was made anew is named by the nearest of its contents. */
const nearer = (a: TaintedBlock | undefined, b: TaintedBlock): TaintedBlock =>
  a !== undefined && a.depth <= b.depth ? a : b;

/** Blocks that the act took out or changed, and the calls that their own `ttl` would have shown them to. */
const lostBlocks = (facts: ImpactFacts) => {
  const after = new Map<string, BlockVersion>();
  for (const version of facts.strands[0]?.versions ?? [])
    if (version.from === facts.seq) after.set(version.id, version);
  return facts.before.flatMap(({ id, there: was }) => {
    const now = after.get(id)?.there ?? null;
    if (was === null || now?.payload === was.payload) return [];
    const stretches = openStretches();
    const sees = (cycle: number, turn: number): boolean =>
      (was.expires === null || was.expires > cycle) &&
      (facts.thread === 'full' || was.pre === 'always' || was.pre === turn);
    const what = now === null ? 'removed' : 'replaced';
    return [
      {
        at: (strand: number, cycle: number, turn: number): void => {
          if (sees(cycle, turn)) stretches.add(id, strand, cycle);
        },
        told: (): LostBlock => ({ id, what, calls: stretches.of(id) }),
      },
    ];
  });
};

const newestCall = ({ strands }: ImpactFacts, strand: number): number | undefined =>
  strands.find((each) => each.strand === strand)?.calls.at(-1)?.cycle;

const lineageImpact = ({ strand, calls }: StrandFacts, found: readonly TaintedCall[]): LineageImpact => {
  const direct = found.filter((call) => call.direct > 0);
  return {
    strand,
    calls: calls.length,
    direct: direct.length,
    derived: found.length - direct.length,
    lastDirect: direct.at(-1)?.cycle ?? null,
    lastDerived: found.findLast((call) => call.derived > 0)?.cycle ?? null,
  };
};
