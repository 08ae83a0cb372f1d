import { canonicalJson } from '@stemma/canonical';
import {
  blockJson,
  eachInSubtree,
  kindOfType,
  NODE_KIND,
  type EventRef,
  type NodeRecord,
  type PayloadSource,
  type TreeNode,
} from '@stemma/context-tree';
import type { Removal } from '@stemma/events';
import { payloadIn, type AppliedFrame, type BranchState } from '@stemma/history';
import { netChanges } from '@stemma/history-store';
import type { Rows } from '@stemma/row-store';
import { collect } from '@stemma/suspend';
import { decisionsAfter, NO_DECISIONS, removalsOf } from './decisions.ts';
import { messageRole, NO_TOKENS } from './roles.ts';
import { nodesEntered, putSize, sizeAt, type SizeRow } from './size-rows.ts';
import { openContentSizes, type ContentSize, type ContentSizes } from './content-sizes.ts';
import { loadedCounter, textOfContent } from './tokens.ts';

const EMPTY: SizeRow = {
  ...{ messages: 0, bytes: 0, tokens: 0, roles: NO_TOKENS, sys: 0, entered: 0, removed: 0 },
  ...{ since: 0, turn: null, head: null, came: [], parent: null },
  ...{ cameTokens: 0, goneTokens: 0, goneBy: {}, decisions: NO_DECISIONS },
};

const NOTHING: ContentSize = { bytes: 0, tokens: 0 };

/**
 * Writes what the thread shows after a frame that changes it, of what it showed before and what changed. Threads that are not full
 * have no rows: what they show depends on which turn is the newest.
 */
export const foldSizes = (frame: AppliedFrame, rows: Rows, payload: PayloadSource): void => {
  const { history, branchId, seq, started } = frame;
  if (started !== null && started.how !== 'start') {
    foldBranchStart(history, seq, { branchId: started.parent, at: started.at }, rows);
    return;
  }
  // The branch has rows if its thread is full; to ask the state would load trees of frames that change nothing.
  const before = started === null ? sizeAt(rows, history, branchId, seq) : undefined;
  if (before === undefined && (started === null || frame.state.thread !== 'full')) return;
  const changes = shownChanges(frame);
  if (changes.length === 0 && frame.snapshot === null && started === null) return;
  const contentOf = openContents(frame, payload);
  const size = before?.size ?? EMPTY;
  const next = before === undefined ? EMPTY : startOf(size, before.seq);
  const isNew = (id: string): boolean =>
    nodesEntered(rows, history, branchId, size, before?.seq ?? 0).has(id);
  const removals = removalsOf(frame.events);
  const after = collect((attempt) => {
    const counted = (ref: EventRef): ContentSize => attempt(contentOf, ref, NOTHING);
    return withEnds(frame, sizeAfter(next, changes, { contentOf: counted, isNew, removals }), counted);
  });
  putSize(rows, history, branchId, seq, {
    ...after,
    decisions: decisionsAfter(next.decisions, frame.events),
  });
};

/** A branch begins with what its parent shows there, and with all that entered since the newest snapshot. */
const foldBranchStart = (
  history: string,
  seq: number,
  parent: { readonly branchId: number; readonly at: number },
  rows: Rows,
): void => {
  const before = sizeAt(rows, history, parent.branchId, parent.at);
  if (before === undefined) return;
  const came = [...nodesEntered(rows, history, before.branchId, before.size, before.seq)];
  const size = { ...startOf(before.size, before.seq), since: seq, came, parent };
  putSize(rows, history, seq, seq, size);
};

/** What a frame after a row goes on from: after a snapshot nothing has entered or gone yet. */
const startOf = (size: SizeRow, seq: number): SizeRow => {
  const open = { ...size, turn: null, head: null, came: [], parent: null };
  if (size.turn === null) return open;
  const nothing = { cameTokens: 0, goneTokens: 0, goneBy: {}, decisions: NO_DECISIONS };
  return { ...open, entered: 0, removed: 0, since: seq, ...nothing };
};

type ShownChange = {
  readonly id: string;
  readonly before: NodeRecord | undefined;
  readonly after: NodeRecord | undefined;
};

/** What a frame did to blocks: a full thread shows all of them. */
const shownChanges = (frame: AppliedFrame): readonly ShownChange[] =>
  netChanges(frame.changes).nodes.filter(({ before, after }) => {
    const record = after ?? before;
    return record !== undefined && isBlock(record);
  });

const isBlock = ({ headers }: NodeRecord): boolean => kindOfType(headers.nodeType) === NODE_KIND.block;

/** Contents whose sizes are kept: those of a turn are asked for again when it is sealed. */
const COUNTED = 10_000;

/** By the branch in memory and not by an id: a process may fold two homes, each with a history of this name. */
const known = new WeakMap<BranchState, ContentSizes>();

const sizesKnownOf = (state: BranchState): ContentSizes => {
  const sizes = known.get(state) ?? openContentSizes(COUNTED);
  known.set(state, sizes);
  return sizes;
};

/** The sizes of contents, which are in the frame itself, in memory, or in an earlier frame. */
const openContents =
  (frame: AppliedFrame, payload: PayloadSource) =>
  (ref: EventRef): ContentSize => {
    const kept = sizesKnownOf(frame.state);
    const before = kept.get(ref);
    if (before !== undefined) return before;
    const event = ref.seq === frame.seq ? frame.events[ref.index] : undefined;
    const { content } = event === undefined ? payload(ref) : payloadIn(event);
    const tokens = loadedCounter().count(textOfContent(content));
    const size = { bytes: content === undefined ? 2 : canonicalJson(content).length, tokens };
    kept.set(ref, size);
    return size;
  };

type CountContent = (ref: EventRef) => ContentSize;

/** What the changes of a frame are counted with. */
type Counting = {
  readonly contentOf: CountContent;
  /** True for a node that entered since the newest snapshot. */
  readonly isNew: (id: string) => boolean;
  readonly removals: ReadonlyMap<string, Removal>;
};

const sizeAfter = (
  start: SizeRow,
  changes: readonly ShownChange[],
  { contentOf, isNew, removals }: Counting,
): SizeRow => {
  let { messages, bytes, tokens, sys, entered, removed, cameTokens, goneTokens } = start;
  const roles = { ...start.roles };
  const goneBy = { ...start.goneBy };
  const came: string[] = [];
  const add = (record: NodeRecord, sign: 1 | -1): number => {
    const content = contentOf(record.payload);
    const counted = sign * content.tokens;
    const inSys = record.location.kind === 'sys';
    messages += sign;
    bytes += sign * (content.bytes + blockJson(record.headers, '', inSys).length);
    tokens += counted;
    roles[messageRole(record.headers, inSys)] += counted;
    if (inSys) sys += counted;
    return counted;
  };
  for (const { id, before, after } of changes) {
    const more = (before === undefined ? 0 : add(before, -1)) + (after === undefined ? 0 : add(after, 1));
    if (before === undefined && after !== undefined) {
      came.push(id);
      entered++;
      cameTokens += more;
    } else if (after !== undefined) {
      // What was sealed or moved has the content of before, and need not be looked for.
      if (more !== 0 && isNew(id)) cameTokens += more;
    } else if (isNew(id)) {
      entered--;
      cameTokens += more;
    } else {
      removed++;
      goneTokens -= more;
      const removal = removals.get(id) ?? 'cascaded';
      goneBy[removal] = (goneBy[removal] ?? 0) + 1;
    }
  }
  const sums = { messages, bytes, tokens, roles, sys, entered, removed, cameTokens, goneTokens, goneBy };
  return { ...start, ...sums, came };
};

/** The same with the tokens of the newest turn and of the head, where the frame ends a cycle. */
const withEnds = ({ snapshot, state }: AppliedFrame, size: SizeRow, contentOf: CountContent): SizeRow => {
  if (snapshot === null) return size;
  const tokensIn = (node: TreeNode | undefined): number => {
    let sum = 0;
    if (node === undefined) return sum;
    eachInSubtree(node, ({ kind, record }) => {
      if (kind === NODE_KIND.block) sum += contentOf((record as NodeRecord).payload).tokens;
    });
    return sum;
  };
  const { seq, ah } = state.tree;
  return { ...size, came: [], turn: tokensIn(seq.kids?.at(-1)), head: tokensIn(ah) };
};
