import type { BlockVersion } from '@stemma/history-store';
import { openCycleSpans } from './cycle-spans.ts';
import type { BranchFacts, ImpactCall, ImpactFacts } from './impact-facts.ts';
import { openFullThread, openPreThread, type LiveBlock, type LiveBlocks } from './live-blocks.ts';
import type { BranchImpact, Impact, LostBlock, TaintedBlock, TaintedCall } from './types.ts';

/**
 * What an intervention led to. Forward through the record, a block counts if the intervention inserted it, if it is
 * an answer to a call whose prompt held such a block, or if it names one in its `refs`; a call counts if its prompt
 * holds one (docs/audit.md: the law of impact). Pure; it costs what happened after the intervention, not the size of
 * any tree.
 */
export const traceImpact = (facts: ImpactFacts): Impact => {
  const blocks: TaintedBlock[] = [];
  const calls: TaintedCall[] = [];
  const branches: BranchImpact[] = [];
  const shownSpans = openCycleSpans();
  const lost = openLostBlocks(facts);
  const startStates = startStatesOf(facts);
  for (const branch of facts.branches) {
    const start = startStates.get(branch.branchId);
    if (start === undefined) continue;
    const found = traceBranch(facts, branch, start, {
      branches: facts.branches.filter(({ from }) => from?.branchId === branch.branchId),
      branch: (child, state) => startStates.set(child, state),
      block: (block) => blocks.push(block),
      call: (call, turn, direct) => {
        for (const one of lost) one.noteCall(branch.branchId, call.cycle, turn);
        for (const { block } of direct) shownSpans.add(block.id, branch.branchId, call.cycle);
      },
    });
    calls.push(...found);
    branches.push(branchImpact(branch, found));
  }
  calls.sort((a, b) => a.seq - b.seq);
  const direct = calls.filter((call) => call.direct > 0).length;
  const brought = blocks.filter(({ depth }) => depth === 0);
  return {
    basis: facts.areRecorded ? 'made' : 'commits',
    brought: brought.map(({ id }) => ({
      id,
      calls: shownSpans.spansOf(id),
      still: shownSpans.spansOf(id).some(({ branchId: branch, last }) => newestCall(facts, branch) === last),
    })),
    calls,
    counts: { calls: calls.length, direct, derived: calls.length - direct },
    blocks,
    lost: lost.map((one) => one.describe()),
    branches,
  };
};

/** The state at which a branch continues: its counted blocks now and ever, and the result of its newest call. */
type State = {
  readonly live: readonly LiveBlock[];
  readonly known: ReadonlyMap<string, TaintedBlock>;
  readonly cycle: number;
  readonly turn: number;
  readonly newest: TaintedCall | null;
};

const startStatesOf = ({ branches, cycle, turn }: ImpactFacts): Map<number, State> => {
  const first = branches[0];
  const none: State = { live: [], known: new Map(), cycle, turn, newest: null };
  return new Map(first === undefined ? [] : [[first.branchId, none]]);
};

type TraceSink = {
  readonly branches: readonly BranchFacts[];
  readonly branch: (branchId: number, state: State) => void;
  readonly block: (block: TaintedBlock) => void;
  readonly call: (call: ImpactCall, turn: number, direct: readonly LiveBlock[]) => void;
};

/** Traces one branch, frame by frame: the insertions of a frame come before the call that it records. */
const traceBranch = (
  facts: ImpactFacts,
  branch: BranchFacts,
  start: State,
  sink: TraceSink,
): TaintedCall[] => {
  const live: LiveBlocks = facts.thread === 'full' ? openFullThread() : openPreThread();
  const known = new Map(start.known);
  let { cycle, turn, newest } = start;
  live.promptOf(cycle, turn);
  for (const one of start.live) live.put(one);
  const calls: TaintedCall[] = [];
  const branches = branchesInOrder(branch, sink.branches);

  const startBranchesUpTo = (seq: number): void => {
    for (let next = branches[0]; next !== undefined && next.at < seq; next = branches[0]) {
      branches.shift();
      sink.branch(next.branchId, { live: [...live.all()], known: new Map(known), cycle, turn, newest });
    }
  };
  const applyVersion = (version: BlockVersion): void => {
    const { id, state: there } = version;
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
    const block = reasonFor(facts, branch.branchId, version, known, newest);
    if (block === null) return;
    known.set(id, nearer(known.get(id), block));
    sink.block(block);
    live.put({ block, payload, expires, pre });
  };
  let next = 0;
  const applyUpTo = (seq: number): void => {
    for (; next < branch.versions.length; next++) {
      const version = branch.versions[next] as BlockVersion;
      if (version.from > seq) return;
      startBranchesUpTo(version.from);
      applyVersion(version);
    }
  };
  for (const call of branch.calls) {
    applyUpTo(call.seq);
    startBranchesUpTo(call.seq);
    cycle = call.cycle;
    if (call.sealed) turn = call.cycle;
    const held = live.promptOf(cycle, turn);
    newest = null;
    if (!call.made) continue;
    if (held !== null) {
      const { direct, derived, nearest } = held;
      const { depth, id } = nearest;
      newest = { branchId: branch.branchId, cycle, seq: call.seq, direct, derived, depth, through: id };
      calls.push(newest);
    }
    sink.call(call, turn, held === null || held.direct === 0 ? [] : live.direct(cycle, turn));
  }
  applyUpTo(Infinity);
  startBranchesUpTo(Infinity);
  return calls;
};

const branchesInOrder = ({ branchId }: BranchFacts, branches: readonly BranchFacts[]) =>
  branches
    .map((branch) => ({ branchId: branch.branchId, at: branch.from?.seq ?? branchId }))
    .sort((a, b) => a.at - b.at || a.branchId - b.branchId);

/** Why an inserted block counts; null if it does not. Of several reasons the one nearest to the intervention. */
const reasonFor = (
  facts: ImpactFacts,
  branchId: number,
  { id, from, state: there }: BlockVersion,
  known: ReadonlyMap<string, TaintedBlock>,
  call: TaintedCall | null,
): TaintedBlock | null => {
  const own = { id, seq: from, branchId };
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
  const reason = { kind: 'answer', call: { branchId: call.branchId, cycle }, through } as const;
  return { ...own, depth: call.depth + 1, reason };
};

/** Of two contents of one block, the one nearer to the intervention. */
const nearer = (a: TaintedBlock | undefined, b: TaintedBlock): TaintedBlock =>
  a !== undefined && a.depth <= b.depth ? a : b;

/** Blocks that the intervention removed or changed, and the calls that their own `ttl` would have shown them to. */
const openLostBlocks = (facts: ImpactFacts) => {
  const after = new Map<string, BlockVersion>();
  for (const version of facts.branches[0]?.versions ?? [])
    if (version.from === facts.seq) after.set(version.id, version);
  return facts.before.flatMap(({ id, state: was }) => {
    const now = after.get(id)?.state ?? null;
    if (was === null || now?.payload === was.payload) return [];
    const spans = openCycleSpans();
    const wouldShow = (cycle: number, turn: number): boolean =>
      (was.expires === null || was.expires > cycle) &&
      (facts.thread === 'full' || was.pre === 'always' || was.pre === turn);
    const what = now === null ? 'removed' : 'replaced';
    return [
      {
        noteCall: (branchId: number, cycle: number, turn: number): void => {
          if (wouldShow(cycle, turn)) spans.add(id, branchId, cycle);
        },
        describe: (): LostBlock => ({ id, what, calls: spans.spansOf(id) }),
      },
    ];
  });
};

const newestCall = ({ branches }: ImpactFacts, branchId: number): number | undefined =>
  branches.find((each) => each.branchId === branchId)?.calls.findLast(({ made }) => made)?.cycle;

const branchImpact = ({ branchId, calls }: BranchFacts, found: readonly TaintedCall[]): BranchImpact => {
  const direct = found.filter((call) => call.direct > 0);
  return {
    branchId,
    calls: calls.filter(({ made }) => made).length,
    direct: direct.length,
    derived: found.length - direct.length,
    lastDirect: direct.at(-1)?.cycle ?? null,
    lastDerived: found.findLast((call) => call.derived > 0)?.cycle ?? null,
  };
};
