import { compareBytes } from '@stemma/canonical';
import type { EventRef, Payload } from '@stemma/context-tree';
import { branchNamesIn, enteredIdsIn, positionNamesIn, type Frame } from '@stemma/events';
import { payloadIn, type KeptFrame } from '@stemma/history';
import type { HeadState } from '@stemma/log';
import { bytesOf } from '@stemma/machine';

/** A command that a frame recorded. */
export type Remembered = {
  readonly seq: number;
  readonly digest: Uint8Array;
  /** The frame, if it is in memory. */
  readonly frame?: Frame;
};

type RecentFrame = {
  readonly applied: KeptFrame;
  readonly frame: Frame;
  /** The newest cycle at the frame; undefined if it is not known. */
  readonly cycle: number | undefined;
  /** The hash of the frame before. */
  readonly prev: Uint8Array;
};

/** What a recent frame takes besides its events: its entries in the indexes, and what was applied. Measured roughly. */
const BYTES_PER_FRAME = 2_000;

export type RecentFrames = ReturnType<typeof openRecentFrames>;

/** The frames since the rows were read, in order, with indexes of their ids, names and commands. */
export const openRecentFrames = (mainBefore: number) => {
  const frames: (RecentFrame & { readonly bytes: number })[] = [];
  /** The branch called `main` before the oldest of them. */
  let mainBeforeOldest = mainBefore;
  const ids = new Set<string>();
  const names = new Set<string>();
  /** Branches by the names that recent frames set. */
  const branchesByName = new Map<string, number | undefined>();
  const commands = new Map<string, Remembered>();
  let bytes = 0;
  const forget = ({ applied, bytes: size }: (typeof frames)[number]): void => {
    bytes -= size;
    for (const id of enteredIdsIn(applied.events)) ids.delete(id);
    for (const name of positionNamesIn(applied.events)) names.delete(name);
    if (applied.started !== null) rebuildBranchNames();
    commands.delete(applied.command);
  };
  const rebuildBranchNames = (): void => {
    branchesByName.clear();
    for (const { applied } of frames) applyBranchNames(applied, branchesByName);
  };
  return {
    branchesByName: branchesByName as ReadonlyMap<string, number | undefined>,
    ids: ids as ReadonlySet<string>,
    names: names as ReadonlySet<string>,
    commands: commands as ReadonlyMap<string, Remembered>,
    get size() {
      return frames.length;
    },
    /** About how much memory they take. */
    get bytes() {
      return bytes;
    },
    payload: ({ seq, index }: EventRef): Payload | undefined => {
      const event = frames[seq - (frames[0]?.applied.seq ?? seq)]?.applied.events[index];
      return event === undefined ? undefined : payloadIn(event);
    },
    /** The branch that has the name `main` now. */
    get main() {
      return branchesByName.get('main') ?? mainBeforeOldest;
    },
    /** The cycle at the newest frame of the branch at or before `seq`; undefined if no recent frame has it. */
    cycleAt: (branchId: number, seq: number): number | undefined =>
      frames.findLast(
        ({ applied }) => applied.branchId === branchId && applied.seq <= seq && !applied.observed,
      )?.cycle,
    add: (one: RecentFrame): void => {
      const { applied, frame } = one;
      const size = BYTES_PER_FRAME + bytesOf(applied.events);
      frames.push({ ...one, bytes: size });
      bytes += size;
      for (const id of enteredIdsIn(applied.events)) ids.add(id);
      for (const name of positionNamesIn(applied.events)) names.add(name);
      applyBranchNames(applied, branchesByName);
      commands.set(applied.command, { seq: applied.seq, digest: applied.digest, frame });
    },
    takeLast: (): RecentFrame => {
      const last = frames.pop();
      if (last === undefined) throw new RangeError('there is no frame to take back');
      forget(last);
      return last;
    },
    /**
     * Forgets the frames up to the newest one of the rows, if that is one of these: one sent ahead may be rejected.
     * Returns them.
     */
    forgetKnown: (
      { next, prev }: Pick<HeadState, 'next' | 'prev'>,
      last: Uint8Array,
    ): readonly KeptFrame[] => {
      const count = next - (frames[0]?.applied.seq ?? next);
      if (count <= 0 || count > frames.length) return [];
      if (compareBytes(frames[count]?.prev ?? last, prev) !== 0) return [];
      const known = frames.slice(0, count);
      const before = new Map<string, number | undefined>();
      for (const { applied } of known) applyBranchNames(applied, before);
      mainBeforeOldest = before.get('main') ?? mainBeforeOldest;
      frames.splice(0, count);
      for (const frame of known) forget(frame);
      return known.map(({ applied }) => applied);
    },
  };
};

const applyBranchNames = ({ events, branchId }: KeptFrame, names: Map<string, number | undefined>): void => {
  for (const [name, branch] of branchNamesIn(events, branchId)) names.set(name, branch);
};
