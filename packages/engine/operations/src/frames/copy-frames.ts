import type { ContentStore } from '@stemma/contents';
import type { EventLog, HeadState } from '@stemma/log';
import { acceptedFrames } from './accepted-frames.ts';
import { openFrameAppender } from './append-frames.ts';
import { contentsOf } from './contents-of.ts';

/** A log with the contents that its frames name. */
export type FramesSide = { readonly log: EventLog; readonly contents: ContentStore };

export type CopiedFrames = {
  /** Of the source. */
  readonly heads: ReadonlyMap<string, HeadState>;
  /** Frames appended now; `before`: those that the target had. */
  readonly frames: number;
  readonly before: number;
  /** Contents that were stored and verified. */
  readonly contents: number;
};

/**
 * Appends the accepted frames of a log to another one, byte for byte, each behind its contents.
 *
 * @param existing of the target: frames of a history before `next` are there
 */
export const copyFrames = async (
  source: FramesSide,
  target: FramesSide,
  existing: ReadonlyMap<string, Pick<HeadState, 'next'>>,
  {
    signal,
    progress = () => undefined,
  }: { readonly signal: AbortSignal; readonly progress?: (frames: number) => void },
): Promise<CopiedFrames> => {
  const heads = new Map<string, HeadState>();
  const stored = new Set<string>();
  let [frames, before] = [0, 0];
  const appender = openFrameAppender(target.log, (count) => {
    frames += count;
    progress(before + frames);
  });
  for await (const some of acceptedFrames(source.log, heads))
    for (const frame of some) {
      const { history, seq } = frame.envelope;
      if (seq < (existing.get(history)?.next ?? 0)) {
        before++;
        continue;
      }
      for (const { ref, bytes } of await contentsOf(frame, source.contents)) {
        if (!stored.has(ref.sha256)) await target.contents.put(bytes);
        stored.add(ref.sha256);
      }
      signal.throwIfAborted();
      await appender.add(frame);
    }
  await appender.flush();
  return { heads, frames, before, contents: stored.size };
};
