import type { WideJson } from '@stemma/canonical';
import { placedRedactions, type FoundBranch } from '@stemma/call-recording';
import { threadIndexes, type FlatTree } from '@stemma/context-tree';
import { isStemmaError } from '@stemma/errors';
import {
  branchRefOf,
  findSnapshot,
  readPositionMeta,
  type BranchRef,
  type Position,
  type SnapshotRow,
} from '@stemma/history-store';
import type { Projection } from '@stemma/projector';
import { listCallsAt } from '@stemma/read-models';
import { threadBlocks, type SteeredBlock } from './agents-list.ts';
import { alignMessages, type Alignment } from './align.ts';
import { openObserverEdits } from './observer-edits.ts';
import type { OutgoingCall, SteeredHome } from './types.ts';
import { unsteerable } from './unsteerable.ts';

/** How often to look again when somebody wrote between the look and the write. */
const MAX_TRIES = 8;

/** A call in its branch. */
export type Placed = { readonly branch: BranchRef; readonly place: FoundBranch };

/** What a position shows, against the messages of a call. */
export type Look = {
  readonly position: Position;
  readonly tree: FlatTree;
  readonly blocks: readonly SteeredBlock[];
  readonly alignment: Alignment;
};

/** What a branch shows after a call was written to it. */
export type Written = {
  readonly seq: number;
  /** The indexes of the messages that the call brings. */
  readonly brought: readonly number[];
  readonly lost: Alignment['lost'];
  /** The snapshot that the call was made with before, if it is another attempt; null: it brings something, or nobody called so. */
  readonly again: SnapshotRow | null;
};

/** Writes calls to the writer of their branches. */
export type BranchWriter = {
  look(position: Position, wanted: readonly WideJson[]): Promise<Look>;
  /** Makes the draft of a branch have the call's messages; with `commit` it is then a snapshot. */
  write(placed: Placed, call: OutgoingCall, commit: boolean): Promise<Written>;
};

export const openBranchWriter = (home: SteeredHome, projection: Projection): BranchWriter => {
  const editsAt = openObserverEdits(projection);
  const look = async (position: Position, wanted: readonly WideJson[]): Promise<Look> => {
    const view = await home.view(position);
    const blocks = await threadBlocks(view, await editsAt(position));
    const alignment = alignMessages(blocks, wanted, view.tree.cycle + 1);
    if (alignment.touchesCore)
      throw unsteerable('the agent has dropped the core of a turn that an import or an observer sealed');
    return { position, tree: view.tree, blocks, alignment };
  };

  const write = async ({ branch, place }: Placed, call: OutgoingCall, commit: boolean): Promise<Written> => {
    for (let tries = 1; ; tries++) {
      const tip = await home.position(branch);
      const { alignment, tree } = await look(tip, place.messages);
      const { steps, origins, lost } = alignment;
      const brought = origins.filter((at) => at !== null);
      const again = steps.length > 0 ? null : ((await calledBefore(tip, tree)) ?? null);
      if (commit && again !== null) return { seq: again.seq, brought, lost, again };
      if (!commit && steps.length === 0) return { seq: tip.seq, brought, lost, again };
      try {
        const { seq } = await home.submit({
          id: `${call.id}.${commit ? 'sent' : 'draft'}`,
          history: branch.history,
          branchId: branch.branchId,
          by: call.by,
          expected: tip.seq,
          steps: commit ? [...steps, { op: 'commit' }] : [...steps],
          redactions: placedRedactions(steps, origins, [], place.redactions),
        });
        return { seq, brought, lost, again };
      } catch (error) {
        if (tries >= MAX_TRIES || !isStemmaError(error, 'E_CONFLICT')) throw error;
      }
    }
  };

  /** The newest snapshot, if the tip shows the same and it was called with: this is another attempt then. */
  const calledBefore = async (tip: Position, tree: FlatTree): Promise<SnapshotRow | undefined> => {
    const { history, branchId, seq } = tip;
    const found = await projection.read((rows) => {
      const { cycle } = readPositionMeta(rows, history, branchId, seq).meta;
      const snapshot = findSnapshot(rows, history, branchId, seq, cycle);
      return snapshot !== undefined && listCallsAt(rows, history, snapshot).length > 0 ? snapshot : undefined;
    });
    if (found === undefined || found.branchId !== branchId) return undefined;
    const before = await home.view(await home.position(branchRefOf(history, branchId), `@s${found.seq}`));
    return shownIn(before.tree) === shownIn(tree) ? found : undefined;
  };

  return { look, write };
};

/** The blocks of a thread, and the contents that they have. */
const shownIn = (tree: FlatTree): string =>
  JSON.stringify(threadIndexes(tree, 'full').map((index) => [tree.ids[index], tree.payloads[index]]));
