import type { Mask } from './values/masks.ts';

/** How a rerun judges what comes. */
export type RerunOptions = {
  /** What becomes of a call that differs. `live`: its conversation leaves the recording there. */
  readonly onDifference: 'stop' | 'serve' | 'live';
  /** The labels of calls from which their conversations, and those that they lead to, are not served. */
  readonly from: readonly string[];
  /** `skip`: of each call only the answered attempt is served, or the last if none was answered. */
  readonly errors: 'recorded' | 'skip';
  /** `strict`: nothing is bound. */
  readonly values: 'bound' | 'strict';
  /** `recorded`: a result of a tool that differs is taken for the recorded one of that tool call, and noted as the world's. */
  readonly tools: 'real' | 'recorded';
  readonly masks: readonly Mask[];
  /** Folders that are elsewhere now: the workspace, a temporary folder. */
  readonly folders: readonly MovedFolder[];
  /** How far the clocks of the machines are before UTC, in minutes: times without a zone say those. Null: not known. */
  readonly offsets: { readonly recorded: number | null; readonly now: number | null };
};

export type MovedFolder = { readonly recorded: string; readonly now: string };

/** What a rerun does unless it is told otherwise. */
export const DEFAULT_OPTIONS: RerunOptions = {
  onDifference: 'stop',
  from: [],
  errors: 'recorded',
  values: 'bound',
  tools: 'real',
  masks: [],
  folders: [],
  offsets: { recorded: null, now: null },
};
