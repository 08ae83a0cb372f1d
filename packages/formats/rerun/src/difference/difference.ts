import type { DescribedDifference } from '@stemma/api';
import type { IdConflict } from '../values/ledger.ts';

/** Why a call differs from the recorded one. */
export type DifferenceCause =
  | 'parameters'
  | 'tools'
  | 'prompt'
  | 'question'
  | 'tool result'
  | 'answer edited'
  | 'history shortened'
  | 'order';

/** What a result answers: the tool, what it was called with, and the call that asked for it. */
export type AskedBy = {
  readonly tool: string;
  readonly arguments: string;
  /** The label of the asking call; null: it is not of this recording. */
  readonly call: string | null;
};

/** The first message, parameter or tool in which a call differs from a recorded one. */
export type Difference = {
  /** The label of the recorded call. */
  readonly of: string;
  /** How many recorded calls it might stand for; more than one: which one is a guess. */
  readonly among: number;
  readonly cause: DifferenceCause;
  /** The number of the message in the recording; of an added one, the number that it has now. Null: it is no message. */
  readonly message: number | null;
  readonly role: string | null;
  /** The path of the parameter, or the name of the tool and the path in it; null for a message. */
  readonly name: string | null;
  /** What was recorded, the text of a message or the JSON of a value; null: nothing stood there. */
  readonly a: string | null;
  /** What came; null: nothing stands there. */
  readonly b: string | null;
  readonly askedBy: AskedBy | null;
  /** An id that stands for another one elsewhere, where nothing else differs. */
  readonly conflict: IdConflict | null;
  /** The messages that a shortened history no longer has. */
  readonly gone: number;
};

/** A difference as people are told of it: its message is numbered from 1. */
export const describedDifference = ({ message, ...difference }: Difference): DescribedDifference => ({
  ...difference,
  message: message === null ? null : message + 1,
});
