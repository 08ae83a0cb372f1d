import type { EquivalentMutant } from './equivalent-mutant.ts';

export const PROJECTOR: readonly EquivalentMutant[] = [
  {
    file: 'packages/engine/projector/src/run-partition.ts',
    original: 'maxFrames === Infinity',
    replacement: 'false',
    reason: 'no limit is a limit of Infinity',
  },
  {
    file: 'packages/engine/projector/src/payloads.ts',
    original: 'held.get(ref.seq) ?? cached.get(keyOf(history, ref.seq))?.events',
    replacement: 'held.get(ref.seq)',
    reason: 'a frame that is cached is then fetched, from the cache: only work',
  },
  {
    file: 'packages/engine/projector/src/verify-replay.ts',
    original: '0',
    replacement: '1',
    line: 'let last = { frames: 0, events: 0 };',
    reason: 'the first progress of a run is that of its first batch, which sets it anew',
  },
];
