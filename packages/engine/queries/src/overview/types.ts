import type { ProgramEnd } from '@stemma/events';
import type { CallPrice } from '@stemma/model-apis';
import type { FilmCell } from '../filmstrip/types.ts';

/** A tool that models called in a history. */
export type UsedTool = { readonly name: string; readonly calls: number; readonly failed: number };

/** A call of a history whose tool failed: the call that asked for it. */
export type FailedTool = Pick<FilmCell, 'branchId' | 'seq' | 'cycle'> & { readonly name: string };

/** What a model decided at a call of `main`: the names of the tools it called, or that it answered. */
export type MainDecision = Pick<FilmCell, 'branchId' | 'seq' | 'cycle'> & {
  readonly how: 'answered' | 'called' | 'failed' | 'unknown';
  /** `answer`, the tools with commas between, or nothing. */
  readonly what: string;
};

/** A history in numbers: of all its branches, a call that several share counted once. */
export type HistoryFigures = {
  readonly calls: number;
  /** Calls that came to no answer: failed, timed out. */
  readonly errors: number;
  /** Tokens that all of these calls were shown. */
  readonly tokens: number;
  readonly models: readonly string[];
  /** By name. */
  readonly tools: readonly UsedTool[];
  readonly failures: readonly FailedTool[];
  /** The calls of `main`, the oldest first. */
  readonly main: readonly MainDecision[];
  /** Of the calls that the price table knows; null: of none. */
  readonly cost: CallPrice | null;
  /** Calls with an answer that the price table says nothing of. */
  readonly unpriced: number;
  /** What people did that a model is shown, or that moves a branch: no notes, no saved positions. */
  readonly interventions: number;
  readonly held: number;
  /** How the newest recorded program of the history ended; null: none is recorded. */
  readonly end: ProgramEnd | null;
  /** The SHA-256 of the first thread that a model was shown: equal for those that begin alike. Null: none was. */
  readonly beginning: string | null;
};

/** Histories in numbers. */
export type Overview = {
  /** The figures of a history that has so many frames. @throws E_HISTORY_NOT_FOUND */
  figures(history: string, frames: number): Promise<HistoryFigures>;
  /** The hash of the first thread that a model was shown; null: none was. */
  beginning(history: string): Promise<string | null>;
};
