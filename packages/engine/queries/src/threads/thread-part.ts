import {
  threadIndexes,
  threadParts,
  type FlatTree,
  type PayloadSource,
  type ThreadMode,
  type ThreadPart,
} from '@stemma/context-tree';
import {
  hasTurnsImportedLast,
  readBranch,
  readFlatTree,
  readLocations,
  type LocationRange,
  type Position,
} from '@stemma/history-store';
import { payloadIn } from '@stemma/history';
import type { Projection } from '@stemma/projector';
import { readThreadLength } from '@stemma/read-models';
import type { Frames } from '../prompts/origin.ts';
import type { ByteRange } from '../prompts/types.ts';

/** A part of the provider thread of a position, read without the rest. */
export type ThreadWindow = {
  /** The nodes of the part; depths of turns are not those of the whole. */
  readonly tree: FlatTree;
  /** From byte `start` of the thread on. Its first and last byte are brackets, whatever stands there in the whole. */
  readonly text: string;
  readonly start: number;
  /** The parts of the text, at their bytes in the thread. */
  readonly parts: readonly ThreadPart[];
  /** The bytes of the whole thread. */
  readonly length: number;
  readonly payloads: PayloadSource;
};

/** Reads the thread of one position, or parts of it. What a part costs is its own length, not that of the thread. */
export type ThreadReader = {
  /** The bytes of the thread; null: only reading it whole says that. */
  readonly length: () => Promise<number | null>;
  readonly whole: () => Promise<ThreadWindow>;
  /** From a location to the end. */
  readonly from: (location: number) => Promise<ThreadWindow>;
  /** The bytes of a range, and some before or after them. */
  readonly range: (range: ByteRange) => Promise<ThreadWindow>;
};

/** Locations that are read first for a range; each time it is not among them, four times as many. */
const LOCATIONS = 32;

export type ThreadReaderOptions = {
  /** Nodes whose payloads are asked for, though the thread may not show them. */
  readonly ids?: readonly string[];
  readonly locationsAtFirst?: number;
};

export const openThreadReader = (
  projection: Projection,
  frames: Frames,
  position: Position,
  { ids = [], locationsAtFirst = LOCATIONS }: ThreadReaderOptions = {},
): ThreadReader => {
  const { history, branchId, seq } = position;
  let known: Promise<number | null> | undefined;
  /** Only a full thread whose turns are in the order of their cycles is read in parts. */
  const length = (): Promise<number | null> =>
    (known ??= projection.read((rows) =>
      hasTurnsImportedLast(rows, history, branchId, seq)
        ? null
        : (readThreadLength(rows, history, branchId, seq) ?? null),
    ));
  const windowOf = async (tree: FlatTree, mode: ThreadMode, ends?: number): Promise<ThreadWindow> => {
    const asked = ids.flatMap((id) => tree.indexOf(id) ?? []);
    const eventAt = await frames.loadEvents(
      [...threadIndexes(tree, mode), ...asked].flatMap((i) => tree.payloads[i]?.seq ?? []),
    );
    const payloads: PayloadSource = (ref) => payloadIn(eventAt(ref));
    const { text, parts } = threadParts(tree, payloads, mode);
    const start = ends === undefined ? 0 : ends - text.length;
    const shifted = parts.map((part) => ({ ...part, from: part.from + start, to: part.to + start }));
    return { tree, text, start, parts: shifted, length: (await known) ?? text.length, payloads };
  };
  const read = (range: LocationRange) =>
    projection.read((rows) => readLocations(rows, history, position, range));
  const whole = async (): Promise<ThreadWindow> => {
    const { tree, mode } = await projection.read((rows) => ({
      tree: readFlatTree(rows, history, branchId, seq),
      mode: readBranch(rows, history, branchId).thread,
    }));
    return windowOf(tree, mode);
  };
  const beginning = async (to: number): Promise<ThreadWindow> => {
    let oldest = 0;
    for (let count = locationsAtFirst; ; count *= 4) {
      const found = await read({ sys: true, from: 0, to: oldest + count });
      if (oldest + count >= found.head) return whole();
      oldest = found.oldest;
      const window = await windowOf(found.tree, 'full');
      if (window.text.length > to) return window;
    }
  };
  const end = async (from: number, ends: number): Promise<ThreadWindow> => {
    const { head, oldest } = await read({ sys: false, from: Infinity, to: Infinity });
    for (let count = locationsAtFirst; ; count *= 4) {
      if (head - count <= oldest) return whole();
      const found = await read({ sys: false, from: head - count, to: Infinity });
      const window = await windowOf(found.tree, 'full', ends);
      if (window.start < from) return window;
    }
  };
  return {
    length,
    whole,
    from: async (location) => {
      const ends = await length();
      if (ends === null) return whole();
      const found = await read({ sys: false, from: location, to: Infinity });
      return location <= found.oldest ? whole() : windowOf(found.tree, 'full', ends);
    },
    range: async ({ from, to }) => {
      const ends = await length();
      if (ends === null) return whole();
      return to <= ends - from ? beginning(to) : end(from, ends);
    },
  };
};
