/** A position of the history that is being made: a branch by the number of the frame that began it, and a frame. */
export type FramePosition = { readonly branchId: number; readonly seq: number };

/** Where an item stands that another one follows. */
export type BranchPoint = { readonly position: FramePosition; readonly piece: number };

/**
 * The frames of a history while its commands are made, one a command, from 0: which branch each is on, and what the thread holds
 * there. Of each frame it keeps a few numbers, and of each item with an id where it ends.
 */
export type ConversationBranches = {
  /** The first frame, which starts the history. */
  readonly began: () => void;
  /** The number of the next frame. */
  readonly next: () => number;
  readonly branch: () => number;
  /** True while the branch holds nothing but the system's messages. */
  readonly isAtBeginning: () => boolean;
  /** Of the frame that is made next: a message of so many nodes. */
  readonly inserted: (ordinal: number, nodes: number, inSystem: boolean) => void;
  /** A frame that brings no message. */
  readonly passed: () => void;
  /** The item that ends with the last frame has this id. */
  readonly item: (id: string | undefined) => void;
  /** Where an item goes on that follows this one; null: at the beginning. */
  readonly find: (after: string | null) => 'tip' | 'unknown' | BranchPoint;
  /** Goes on at the end of another branch. @returns false if the point is not the end of its branch: a new one begins there */
  readonly switched: (at: BranchPoint) => boolean;
  /** The frame that begins a branch. */
  readonly forked: (at: BranchPoint) => void;
  /** The ids of the nodes that leave. @param keeps ids of items @param ofSystem true if the system's messages may leave too */
  readonly compacted: (keeps: ReadonlySet<string>, ofSystem: boolean) => readonly string[];
};

/** A message in the thread; `before`: the number of the one before it on its branch, or −1. */
type Piece = {
  readonly ordinal: number;
  readonly nodes: number;
  readonly inSystem: boolean;
  readonly before: number;
  /** The id of the item it is of. */
  item: string | undefined;
};

/** What an item with an id ends with. */
type ItemEnd = { readonly seq: number; readonly branchId: number; readonly piece: number };

export const conversationBranches = (): ConversationBranches => {
  const pieces: Piece[] = [];
  const ends = new Map<string, ItemEnd>();
  /** Where each branch ends. */
  const tips = new Map<number, ItemEnd>();
  const state = {
    next: 0,
    branchId: 0,
    /** The last message of the thread, by its number among the pieces; −1: none. */
    tip: -1,
    /** The pieces of the item that is not ended yet. */
    open: [] as number[],
    /** Where the last item ends. */
    end: { seq: 0, branchId: 0, piece: -1 } as ItemEnd,
    /** The frame that inserts the messages of an item is counted once. */
    inserting: false,
  };
  const thread = (): number[] => {
    const found: number[] = [];
    for (let at = state.tip; at >= 0; at = pieces[at]?.before ?? -1) found.push(at);
    return found.reverse();
  };
  const frame = (): void => {
    state.next += 1;
    state.inserting = false;
  };
  return {
    began: frame,
    next: () => state.next,
    branch: () => state.branchId,
    isAtBeginning: () => state.tip < 0 || pieces[state.tip]?.inSystem === true,
    inserted(ordinal, nodes, inSystem) {
      if (!state.inserting) state.next += 1;
      state.inserting = true;
      pieces.push({ ordinal, nodes, inSystem, before: state.tip, item: undefined });
      state.tip = pieces.length - 1;
      state.open.push(state.tip);
    },
    passed: frame,
    item(id) {
      state.inserting = false;
      for (const at of state.open) (pieces[at] as Piece).item = id;
      state.open = [];
      state.end = { seq: state.next - 1, branchId: state.branchId, piece: state.tip };
      tips.set(state.branchId, state.end);
      if (id !== undefined) ends.set(id, state.end);
    },
    find(after) {
      const end = after === null ? { seq: 0, branchId: 0, piece: -1 } : ends.get(after);
      if (end === undefined) return 'unknown';
      if (end.seq === state.end.seq && end.branchId === state.end.branchId) return 'tip';
      return { position: { branchId: end.branchId, seq: end.seq }, piece: end.piece };
    },
    switched({ position: { branchId, seq } }) {
      const end = tips.get(branchId);
      if (end?.seq !== seq) return false;
      state.branchId = branchId;
      state.tip = end.piece;
      state.end = end;
      return true;
    },
    forked({ piece }) {
      state.branchId = state.next;
      frame();
      state.tip = piece;
      state.end = { seq: state.next - 1, branchId: state.branchId, piece };
    },
    compacted(keeps, ofSystem) {
      const gone: string[] = [];
      let tip = -1;
      for (const at of thread()) {
        const piece = pieces[at] as Piece;
        if ((piece.inSystem && !ofSystem) || (piece.item !== undefined && keeps.has(piece.item))) {
          pieces.push({ ...piece, before: tip });
          tip = pieces.length - 1;
          continue;
        }
        for (let node = 0; node < piece.nodes; node++)
          gone.push(node === 0 ? `m${piece.ordinal}` : `m${piece.ordinal}:${node}`);
      }
      state.tip = tip;
      return gone;
    },
  };
};
