import { pack, unpack } from '@stemma/canonical';
import { flattenTree, hashFlat, type FlatTree, type Payload, type PayloadSource } from '@stemma/context-tree';
import type { HistoryEvent } from '@stemma/events';
import { applyFrame, decide, openHistory, payloadIn, type Command, type HistoryState } from '@stemma/history';
import type { ImportReport } from '../src/importer.ts';
import { readImport, type ImportOptions } from '../src/read-import.ts';
import type { ImportSource } from '../src/source.ts';

/** A source of a text or of bytes, in pieces of `piece` bytes. */
export const sourceOf = (data: string | Uint8Array, piece = 65_536): ImportSource => {
  const bytes = typeof data === 'string' ? new TextEncoder().encode(data) : data;
  return {
    name: 'the file',
    size: bytes.length,
    async *open() {
      for (let at = 0; at < bytes.length; at += piece) yield bytes.subarray(at, at + piece);
    },
  };
};

/** A history that was recorded in memory: every committed cycle, and where it stands. */
export type Recorded = {
  readonly history: string;
  readonly cycles: readonly FlatTree[];
  readonly treeHashes: readonly string[];
  readonly working: FlatTree;
  readonly payloads: PayloadSource;
  readonly commands: readonly Command[];
  readonly report: ImportReport;
};

/** Imports a source and records what comes of it, one history for each conversation. */
export const record = async (
  source: ImportSource,
  options: ImportOptions = {},
): Promise<readonly Recorded[]> => {
  const recorded: Recorded[] = [];
  let open = newHistory();
  for await (const item of readImport(source, options)) {
    if (item.kind === 'command') open.submit(item.command);
    else if (item.kind === 'report') {
      recorded.push(open.done(item.history, item.report));
      open = newHistory();
    }
  }
  return recorded;
};

const newHistory = () => {
  let state: HistoryState | null = null;
  const frames: (readonly HistoryEvent[])[] = [];
  const commands: Command[] = [];
  const cycles: FlatTree[] = [];
  const treeHashes: string[] = [];
  // As it comes back from the record: packed and unpacked.
  const payloads: PayloadSource = ({ seq, index }) =>
    unpack(pack(payloadIn(frames[seq]?.[index] as HistoryEvent))) as Payload;
  const sources = {
    payload: payloads,
    position: () => {
      throw new Error('one branch, at hand');
    },
    branchTip: () => undefined,
    lookups: {
      idTaken: () => false,
      nameTaken: () => false,
      branchNamed: () => undefined,
      command: () => undefined,
    },
  };
  const tree = (): FlatTree => {
    const branch = state?.loadedBranches.get(0);
    if (branch === undefined) throw new Error('nothing was recorded');
    return flattenTree(branch.tree);
  };
  return {
    submit: (command: Command): void => {
      state ??= openHistory(command.history, 0);
      const { events } = decide(state, command, 0n, sources);
      const seq = frames.push(events) - 1;
      applyFrame(
        state,
        {
          envelope: { v: 1, history: command.history, seq, prev: new Uint8Array(32) },
          body: {
            recorder: 'test',
            command: command.id,
            digest: new Uint8Array(32),
            at: 0n,
            branchId: 0,
            events,
          },
        },
        sources,
      );
      commands.push(command);
      if (!events.some(({ type }) => type === 'SnapshotCommitted' || type === 'SnapshotImported')) return;
      cycles.push(tree());
      const { treeHash } = hashFlat(tree(), payloads);
      treeHashes.push(Buffer.from(treeHash).toString('hex'));
    },
    done: (history: string, report: ImportReport): Recorded => ({
      history,
      cycles,
      treeHashes,
      working: tree(),
      payloads,
      commands,
      report,
    }),
  };
};
