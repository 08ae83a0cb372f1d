import { isStemmaError } from '@stemma/errors';
import type { Metrics } from './metrics.ts';

/** The calls with which a writer reports its commands. */
export type WritingCounts = {
  /** The log has the command; `events` is 0 if the log had it before. */
  readonly written: (answer: { readonly repeated: boolean; readonly events: number }) => void;
  readonly failed: (error: unknown) => void;
  /** So many sent frames lost their number to another writer's frame. */
  readonly overtaken: (frames: number) => void;
};

/** Counts commands by their outcome, and the frames and events that the log accepted. */
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
