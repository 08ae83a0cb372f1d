import { openDirectoryContents } from '@stemma/contents';
import { fail } from '@stemma/errors';
import { partitionOf, sameBytes, type HeadState } from '@stemma/log';
import { join } from 'node:path';
import { acceptedFrames } from '../frames/accepted-frames.ts';
import { copyFrames, type FramesSide } from '../frames/copy-frames.ts';
import { openHomeLog } from '../open-log.ts';
import type { Services } from '../services.ts';

/** What a bundle brought. */
export type AddedBundle = {
  /** `added`: the frames that the home did not have. */
  readonly histories: readonly {
    readonly history: string;
    readonly frames: number;
    readonly added: number;
  }[];
  readonly contents: number;
};

/**
 * Adds the histories of a bundle that was unpacked to a directory, with their ids and hashes, byte for byte. Of a history that is there
 * already it adds the frames behind, and none if there are as many. Adding it once more changes nothing.
 *
 * @throws E_CONFLICT for a history that goes on otherwise here, E_HISTORY_ERASED; both before anything is written; E_PARTITION_CLOSED,
 *   E_CANCELLED
 */
export const addBundle = async (
  { log, contents, keyring }: Pick<Services, 'log' | 'contents' | 'keyring'>,
  directory: string,
  signal: AbortSignal,
): Promise<AddedBundle> => {
  const opened = await openHomeLog({ directory, create: false });
  const bundled = await openDirectoryContents(join(directory, 'contents'));
  try {
    const source: FramesSide = { log: opened.log, contents: bundled };
    const wanted = new Map<string, HeadState>();
    for await (const _frames of acceptedFrames(source.log, wanted)) signal.throwIfAborted();
    const gone = new Set(keyring.erased());
    const erased = [...wanted.keys()].find((history) => gone.has(history));
    if (erased !== undefined)
      throw fail('E_HISTORY_ERASED', `the history ${erased} was erased here`, { history: erased });
    const target: FramesSide = { log, contents };
    const existing = await headsOf(target, wanted);
    await refuseOthers(source, target, wanted, existing);
    const copied = await copyFrames(source, target, existing, { signal });
    await checkWritten(target, wanted);
    return {
      histories: [...wanted].map(([history, { next }]) => ({
        history,
        frames: next,
        added: Math.max(0, next - (existing.get(history)?.next ?? 0)),
      })),
      contents: copied.contents,
    };
  } finally {
    await bundled.close();
    await opened.log.close();
  }
};

const partitionsOf = ({ log }: FramesSide, wanted: ReadonlyMap<string, HeadState>): readonly number[] =>
  [...new Set([...wanted.keys()].map((history) => partitionOf(history, log.partitions)))].sort(
    (a, b) => a - b,
  );

const headsOf = async (
  side: FramesSide,
  wanted: ReadonlyMap<string, HeadState>,
): Promise<ReadonlyMap<string, HeadState>> => {
  const heads = new Map<string, HeadState>();
  const frames = acceptedFrames(side.log, heads, partitionsOf(side, wanted));
  while ((await frames.next()).done !== true);
  return new Map([...heads].filter(([history]) => wanted.has(history)));
};

/** @throws E_CONFLICT unless each history of one side is the beginning of that of the other */
const refuseOthers = async (
  source: FramesSide,
  target: FramesSide,
  wanted: ReadonlyMap<string, HeadState>,
  existing: ReadonlyMap<string, HeadState>,
): Promise<void> => {
  const unmatched = new Set(existing.keys());
  /** Looks in a log for the newest frame of each history that the other side ends with. */
  const match = async (side: FramesSide, ends: ReadonlyMap<string, HeadState>): Promise<void> => {
    for await (const frames of acceptedFrames(side.log, new Map(), partitionsOf(side, existing)))
      for (const { envelope, hash } of frames) {
        const end = ends.get(envelope.history);
        if (end?.next === envelope.seq + 1 && sameBytes(end.prev, hash)) unmatched.delete(envelope.history);
      }
  };
  if (unmatched.size > 0) await match(source, existing);
  if (unmatched.size > 0) await match(target, wanted);
  const [history] = unmatched;
  if (history !== undefined)
    throw fail(
      'E_CONFLICT',
      `the history ${history} is in this home, and goes on otherwise than in the bundle`,
      {
        history,
      },
    );
};

/** @throws E_CONFLICT if another process wrote to a history at the same time */
const checkWritten = async (target: FramesSide, wanted: ReadonlyMap<string, HeadState>): Promise<void> => {
  const heads = await headsOf(target, wanted);
  for (const [history, { next, prev }] of wanted) {
    const written = heads.get(history);
    if (
      written === undefined ||
      written.next < next ||
      (written.next === next && !sameBytes(written.prev, prev))
    )
      throw fail(
        'E_CONFLICT',
        `another process wrote to the history ${history}: import the bundle once more`,
        {
          history,
        },
      );
  }
};
