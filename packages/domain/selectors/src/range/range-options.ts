import { fail } from '@stemma/errors';
import { CONTENT_MODES, type ContentMode } from './content-diff.ts';
import type { Window } from '../select.ts';

/** The options of a range query besides its selector (context-tree §6). The window counts pairs of snapshots. */
export type RangeOptions = Window & {
  /** Whether changed contents are compared. */
  readonly includeContent?: boolean;
  /** Default `unified`. */
  readonly contentMode?: ContentMode;
  /** Lines around each change of a unified diff. Default 3. */
  readonly contextLines?: number;
  /** The most snapshots; more are refused. Default 1,000. */
  readonly maxSnapshots?: number;
  /** The most added, removed and changed ids listed per pair; `stats` count them all. */
  readonly maxChangesPerSnapshot?: number;
};

export type KnownOptions = Required<
  Pick<RangeOptions, 'includeContent' | 'contentMode' | 'contextLines' | 'maxSnapshots'>
> &
  RangeOptions;

/** The options with their defaults. @throws E_USAGE for a mode or a number that is none */
export const rangeOptions = (options: RangeOptions): KnownOptions => {
  const known = {
    includeContent: false,
    contentMode: 'unified' as const,
    contextLines: 3,
    maxSnapshots: 1_000,
    ...options,
  };
  if (!CONTENT_MODES.includes(known.contentMode))
    throw fail('E_USAGE', `contentMode must be one of ${CONTENT_MODES.join(', ')}`);
  for (const name of ['contextLines', 'maxSnapshots', 'maxChangesPerSnapshot', 'limit', 'skip'] as const) {
    const value = known[name];
    if (value !== undefined && (!Number.isSafeInteger(value) || value < 0))
      throw fail('E_USAGE', `${name} must be a whole number from 0`);
  }
  return known;
};
