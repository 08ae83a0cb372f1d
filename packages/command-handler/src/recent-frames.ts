import { compareBytes } from '@stemma/canonical';
import type { EventRef, Payload } from '@stemma/context-tree';
import { branchNames, enteredIds, namedPosition, type Frame, type HistoryEvent } from '@stemma/events';
import { payloadIn, type AppliedFrame } from '@stemma/history';
import type { HeadState, Remembered } from '@stemma/log';

type Recent = {
  readonly applied: AppliedFrame;
  readonly frame: Frame;
  /** As `cycleOf`. */
  readonly cycle: number | undefined;
  /** The hash of the frame before. */
  readonly prev: Uint8Array;
};

/** Frames in order, with what is looked up in them. */
export const recentFrames = (mainBefore: number) => {
  const frames: Recent[] = [];
  /** The lineage called `main` before the oldest of them. */
  let oldMain = mainBefore;
  const ids = new Set<string>();
  const names = new Set<string>();
  /** Lineages by the names that recent frames gave or took. */
  const lineages = new Map<string, number | undefined>();
  const commands = new Map<string, Remembered>();
  const forget = ({ applied }: Recent): void => {
    for (const id of idsOf(applied.events)) ids.delete(id);
    for (const name of namesOf(applied.events)) names.delete(name);
    if (applied.started !== null) nameLineages();
    commands.delete(applied.command);
  };
  const nameLineages = (): void => {
    lineages.clear();
    for (const { applied } of frames) noteNames(applied, lineages);
  };
  return {
    lineages: lineages as ReadonlyMap<string, number | undefined>,
    ids: ids as ReadonlySet<string>,
    names: names as ReadonlySet<string>,
    commands: commands as ReadonlyMap<string, Remembered>,
    get size() {
      return frames.length;
    },
    payload: ({ seq, index }: EventRef): Payload | undefined => {
      const event = frames[seq - (frames[0]?.applied.seq ?? seq)]?.applied.events[index];
      return event === undefined ? undefined : payloadIn(event);
    },
    /** The lineage that has the name `main` now. */
    get main() {
      return lineages.get('main') ?? oldMain;
    },
    /** What a frame of the lineage says, the newest at or before `seq`; undefined if none does. */
    cycleAt: (strand: number, seq: number): number | undefined =>
      frames.findLast(({ applied }) => applied.lineage === strand && applied.seq <= seq && !applied.observed)
        ?.cycle,
    add: (one: Recent): void => {
      const { applied, frame } = one;
      frames.push(one);
      for (const id of idsOf(applied.events)) ids.add(id);
      for (const name of namesOf(applied.events)) names.add(name);
      noteNames(applied, lineages);
      commands.set(applied.command, { seq: applied.seq, digest: applied.digest, frame });
    },
    takeLast: (): Recent => {
      const last = frames.pop();
      if (last === undefined) throw new RangeError('there is no frame to take back');
      forget(last);
      return last;
    },
    /** Frames that the rows have: those up to theirs, if it is one of these. One sent ahead may not have been accepted. */
    forgetKnown: ({ next, prev }: Pick<HeadState, 'next' | 'prev'>, last: Uint8Array): void => {
      const count = next - (frames[0]?.applied.seq ?? next);
      if (count <= 0 || count > frames.length) return;
      if (compareBytes(frames[count]?.prev ?? last, prev) !== 0) return;
      const known = frames.slice(0, count);
      const before = new Map<string, number | undefined>();
      for (const { applied } of known) noteNames(applied, before);
      oldMain = before.get('main') ?? oldMain;
      frames.splice(0, count);
      for (const frame of known) forget(frame);
    },
  };
};

const idsOf = (events: readonly HistoryEvent[]): readonly string[] => events.flatMap(enteredIds);

const namesOf = (events: readonly HistoryEvent[]): readonly string[] =>
  events.flatMap((event) => namedPosition(event)?.name ?? []);

const noteNames = ({ events, lineage }: AppliedFrame, names: Map<string, number | undefined>): void => {
  for (const event of events)
    for (const [name, branch] of branchNames(event, lineage)) names.set(name, branch);
};
