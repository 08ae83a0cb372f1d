import { sha256 } from '@stemma/canonical';
import type { Frame } from '@stemma/events';
import { encodeFrame, sealRecord, ZERO_HASH, type Entry } from '@stemma/log';
import { naiveHistory, START } from '@stemma/test-kit';

/** One conversation of so many frames, each of so many blocks and a commit. */
export const transcript = (frames: number, blocks: number): readonly Frame[] => {
  const history = naiveHistory(() => undefined, 'h0');
  history.run(0, [START]);
  for (let n = 0; n < frames; n++)
    history.run(0, [
      ...Array.from({ length: blocks }, (_, i) => ({
        op: 'insert' as const,
        parent: '^ah',
        node: { id: `n${n}-${i}`, nodeType: 'cb' as const, role: 'user', content: `${n} ${i}` },
      })),
      { op: 'commit' },
    ]);
  return history.frames;
};

/** The same frames as those of another history. */
export const copyOf = (frames: readonly Frame[], history: string): Entry[] => {
  let prev: Uint8Array = ZERO_HASH;
  return frames.map(({ envelope, body }) => {
    const { bytes } = encodeFrame({ ...envelope, history, prev }, body);
    prev = sha256(bytes);
    return { key: history, bytes: sealRecord(bytes) };
  });
};
