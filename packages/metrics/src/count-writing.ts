import { isStemmaError } from '@stemma/errors';
import type { Metrics } from './metrics.ts';

/** What a writer tells of its commands. */
export type WritingCounts = {
  /** A command has its place in the log; `events` is 0 where it had it before. */
  readonly written: (answer: { readonly repeated: boolean; readonly events: number }) => void;
  readonly failed: (error: unknown) => void;
  /** So many frames were sent whose place another writer took. */
  readonly overtaken: (frames: number) => void;
};

/** Counts what becomes of commands. */
export const countWriting = (metrics: Metrics): WritingCounts => {
  for (const outcome of ['accepted', 'repeated', 'refused', 'conflict', 'unknown', 'failed'])
    metrics.add('stemma_commands_total', { outcome }, 0);
  return {
    written: ({ repeated, events }) => {
      metrics.add('stemma_commands_total', { outcome: repeated ? 'repeated' : 'accepted' });
      if (repeated) return;
      metrics.add('stemma_frames_appended_total', {});
      metrics.add('stemma_events_appended_total', {}, events);
    },
    failed: (error) => metrics.add('stemma_commands_total', { outcome: outcomeOf(error) }),
    overtaken: (frames) => metrics.add('stemma_conflicts_total', {}, frames),
  };
};

const outcomeOf = (error: unknown): string => {
  if (!isStemmaError(error)) return 'failed';
  if (error.code === 'E_CONFLICT') return 'conflict';
  if (error.code === 'E_OUTCOME_UNKNOWN') return 'unknown';
  return error.row.status < 500 ? 'refused' : 'failed';
};
