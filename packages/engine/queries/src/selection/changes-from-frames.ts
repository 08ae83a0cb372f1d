import { affectedIds } from '@stemma/events';
import { readExpiringIds } from '@stemma/history-store';
import type { Projection } from '@stemma/projector';
import { diffs, listFrameSummaries, readFramesApart, type Ends, type ReadChanges } from '@stemma/read-models';

/** More frames than this between two positions are not read for one question. */
const MOST_FRAMES = 1_000;
/** Turns with something that ends with a cycle: with more of them the rows of the read model are faster, or whole trees. */
const MOST_TURNS = 1_000;
/** With fewer frames to fold first, the rows are worth it. */
const FEW_TO_FOLD = 2_000;

/** Who asks this often about one history gains by its rows. */
const ASKED_OFTEN = 64;

const asked = new WeakMap<Projection, Map<string, number>>();

/** Counts a question about a history; true if there were few. */
const isAskedSeldom = (projection: Projection, history: string): boolean => {
  const counts = asked.get(projection) ?? new Map<string, number>();
  asked.set(projection, counts);
  const count = (counts.get(history) ?? 0) + 1;
  counts.set(history, count);
  return count <= ASKED_OFTEN;
};

/** True if the rows of `diffs` lack so much of a history that a question about few frames does not wait for it. */
export const lacksDiffs = async (projection: Projection, history: string): Promise<boolean> =>
  ((await projection.lacking?.(history, diffs)) ?? 0) > FEW_TO_FOLD && isAskedSeldom(projection, history);

/** What the frames between two positions did, and what may grow older there. */
export type FrameChanges = {
  /** The nodes of the common position that end with a cycle. */
  readonly expiring: readonly string[];
  readonly frames: readonly {
    readonly seq: number;
    /** The nodes that it names, and those that it made end with a cycle. */
    readonly named: readonly string[];
    readonly expiring: readonly string[];
  }[];
};

/**
 * Reads what can differ between two positions of a history from the frames between them. Undefined if these are more than `most`, or
 * if much ends with a cycle.
 */
export const readFrameChanges = async (
  projection: Projection,
  history: string,
  ends: Ends,
  most = MOST_FRAMES,
): Promise<FrameChanges | undefined> => {
  const found = await projection.read((rows) => {
    const { mergeBase, frames } = readFramesApart(rows, history, ends);
    if (frames.reduce((sum, { from, to }) => sum + to - from + 1, 0) > most) return undefined;
    const expiring = readExpiringIds(rows, history, mergeBase, MOST_TURNS);
    const seqs = frames.flatMap(({ branchId, ...range }) =>
      listFrameSummaries(rows, history, range).flatMap((each) =>
        each.branchId === branchId ? [each.seq] : [],
      ),
    );
    return expiring && { expiring, seqs };
  });
  if (found === undefined) return undefined;
  const frames: FrameChanges['frames'][number][] = [];
  for await (const { seq, events } of projection.payloads.eventsInTurn(history, found.seqs))
    frames.push({
      seq,
      named: events.flatMap(affectedIds),
      expiring: events.filter((event) => 'expires' in event && event.expires !== null).flatMap(affectedIds),
    });
  return { expiring: found.expiring, frames };
};

/** What can differ after one frame up to another, by default between all of them. */
export const changesBetween = (
  { expiring, frames }: FrameChanges,
  after = -1,
  until = Infinity,
): ReadChanges => ({
  named: frames.flatMap(({ seq, named }) => (seq > after && seq <= until ? named : [])),
  expiring: [...expiring, ...frames.flatMap((frame) => (frame.seq <= after ? frame.expiring : []))],
});
