import { lstatSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { spread, tenths, type Spread } from '../measure.ts';

/** What one conversation in one system came to. Times in milliseconds. */
export type Growth = {
  /** Space taken on disk after everything was closed. */
  readonly bytes: number;
  /** The same after stages and causes were asked for once, which rows are folded for; null where there are none. */
  readonly asked: number | null;
  /** The same by part, where there are parts. */
  readonly parts: Readonly<Record<string, number>>;
  /** A turn: from what was said to the durable snapshot. */
  readonly turn: Spread;
  readonly first: Spread;
  readonly last: Spread;
  /** A turn in a home that is new, with threads that are new; null where a home has none. */
  readonly inNewHome: Spread | null;
  /** The part of a turn that is storing it, where it can be measured alone. */
  readonly storing: Spread | null;
  /** All that the model was shown at an arbitrary old snapshot. */
  readonly snapshot: Spread;
  /** One message of an arbitrary old snapshot, with its content; null where only whole states can be read. */
  readonly node: Spread | null;
  /** The same without its content. */
  readonly row: Spread | null;
};

export type GrowthInput = {
  readonly directory: string;
  readonly turns: number;
  /** How many old snapshots are read. */
  readonly reads: number;
};

/** The turns of another conversation that is recorded first, in another place. */
export const WARM_TURNS = 300;

/** The conversations that a home of Stemma has recorded when it counts as one that has been running, and the turns of each. */
export const EARLIER = { conversations: 10, turns: 400 } as const;

/** Space a file or a folder takes: allocated blocks, so that holes do not count and preallocation does. */
export const onDisk = (path: string): number => {
  const found = lstatSync(path);
  const own = found.blocks * 512;
  if (!found.isDirectory()) return own;
  return readdirSync(path).reduce((sum, name) => sum + onDisk(join(path, name)), 0);
};

export type TurnSpreads = Pick<Growth, 'turn' | 'first' | 'last'>;

export const ofTurns = (turns: readonly number[]): TurnSpreads => ({
  turn: spread(turns),
  ...tenths(turns),
});
