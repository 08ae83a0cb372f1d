import type { Author, CallAddress, HistoryEvent, ImportSummary } from '@stemma/events';
import type { CallLink } from '@stemma/read-models';
import type { CallAttempt } from './calls/attempts.ts';

/** One line of `stemma histories`. */
export type HistorySummary = {
  readonly history: string;
  readonly name: string | null;
  /** Milliseconds since 1970, from the clock of the writer that started it. */
  readonly startedAt: number;
  readonly updatedAt: number;
  readonly source: { readonly format: string; readonly sha256: string } | null;
  /** What the file had, of a history that was imported; null: it was not, or nothing of it is recorded. */
  readonly import: HistoryImport | null;
  /** By their keys. */
  readonly labels: readonly { readonly label: string; readonly value: string }[];
  readonly frames: number;
  readonly events: number;
  readonly cycles: number;
  readonly branches: readonly BranchSummary[];
  readonly state: 'open' | 'damaged' | 'defective';
  /** The `seq` from which on no frame is served; null while it is open. */
  readonly stopped: number | null;
};

/** The format and version of a file, its title, and the counts of its import (imports §1); absent: the file does not say. */
export type HistoryImport = {
  readonly format: string;
  readonly version?: string;
  readonly title?: string;
} & ImportSummary;

export type BranchSummary = {
  readonly branch: string;
  readonly branchId: number;
  readonly name: string | null;
  readonly parent: number | null;
  readonly at: number | null;
  /** The call that led to its conversation, as a recorder guessed (`why`), its file says (`said`) or somebody said (`assigned`); null: none is known. */
  readonly calledBy: (CallAddress & { readonly why: Exclude<CallLink['why'], 'may continue'> }) | null;
  /** A call that its conversation may go on from, though it shares nothing with it; null: none is known. */
  readonly mayContinue: CallAddress | null;
};

export type SnapshotSummary = {
  readonly label: string;
  readonly cycle: number;
  readonly branchId: number;
  readonly seq: number;
  readonly treeHash: string;
  readonly threadHash: string;
  readonly at: number;
  readonly author: Author;
  readonly command: string;
  readonly nodes: number;
  readonly blocks: number;
  readonly turns: number;
  readonly names: readonly string[];
  /** The attempts to call a model with it; 0: no call stands behind it. Null: of this history no call is recorded. */
  readonly calls: number | null;
  /** The newest of these attempts; null: there is none. */
  readonly call: CallAttempt | null;
};

/** An accepted event as `stemma log` and the live stream show it. */
export type LoggedEvent = {
  readonly history: string;
  /** The address that its branch has now. */
  readonly branch: string;
  readonly branchId: number;
  readonly seq: number;
  readonly index: number;
  readonly command: string;
  /** Milliseconds since 1970. */
  readonly at: number;
  readonly author: Author;
  readonly event: HistoryEvent;
};

export type DiffResult = {
  readonly added: readonly string[];
  readonly removed: readonly string[];
  readonly changed: readonly { readonly id: string; readonly fields: readonly string[] }[];
};

/** Which histories are listed. */
export type HistoryFilter = {
  /** A text in the name, upper and lower case alike, or the beginning of the id. */
  readonly name?: string;
  /** Changed at this time or later, in milliseconds since 1970. */
  readonly since?: number;
  /** How many to leave out first. */
  readonly skip?: number;
  /** Default: all. */
  readonly limit?: number;
};

/** A page of histories. `total`: how many there are without `skip` and `limit`. */
export type HistoryList = { readonly total: number; readonly histories: readonly HistorySummary[] };
