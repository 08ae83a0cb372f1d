import type { RecordedRun, RunStep } from './runs.ts';
import { takenUp } from './taken-up.ts';

/** A message that rounds may show. */
export type ShownMessage = {
  /** The same for the same text. */
  readonly key: string;
  readonly vector: Float32Array;
  /** The attractor that it is in where the runs part; null: in none. */
  readonly cluster: string | null;
};

/** A round of a pool since the runs parted. */
export type RecordedRound = {
  /** The messages that it showed, by id. */
  readonly sampled: readonly string[];
  readonly added: readonly { readonly id: string; readonly text: string; readonly vector: Float32Array }[];
  /** Why the mind ended; null: not known. */
  readonly stop: string | null;
};

/** What nothing leads back to. */
const NONE = 'none of those shown';

/**
 * What the rounds of a pool chose: which message each answer takes up, followed back to one that was there when the runs parted or that
 * came from outside, so that a choice means the same in all runs; how many messages it adds; why it ends.
 *
 * @param shown messages that were there when the runs parted, and those from outside since, by id
 */
export const poolRun = (
  name: string,
  rounds: readonly RecordedRound[],
  shown: ReadonlyMap<string, ShownMessage>,
): RecordedRun => {
  type Known = { readonly vector: Float32Array; readonly key: string; readonly cluster: string | null };
  const known = new Map<string, Known>(shown);
  const steps = rounds.map(({ sampled, added, stop }): RunStep => {
    const candidates = sampled.flatMap((id) => known.get(id) ?? []);
    const vectors = candidates.map(({ vector }) => vector);
    const taken = added.map(({ vector }) => {
      const chosen = takenUp(vector, vectors);
      const { key, cluster } = (chosen === null ? undefined : candidates[chosen]) ?? {
        key: NONE,
        cluster: NONE,
      };
      return { key, cluster };
    });
    for (const [i, { id, vector }] of added.entries()) known.set(id, { vector, ...taken[i]! });
    return {
      choices: {
        'message taken up': taken.map(({ key }) => key),
        'attractor taken up': taken.map(({ cluster }) => cluster ?? 'no attractor'),
        'messages added': [String(added.length)],
        ...(stop === null ? {} : { 'stop reason': [stop] }),
      },
      texts: added.map(({ text, vector }, i) => ({
        about: taken[i]!.cluster ?? taken[i]!.key,
        text,
        vector,
      })),
    };
  });
  return { name, steps };
};
