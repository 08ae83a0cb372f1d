import type { WideJsonObject } from '@stemma/canonical';
import type { MessageEdit } from '@stemma/home';

/** What becomes of the first call that a recording does not answer. What comes behind it goes to its provider. */
export type WhatIf = {
  /** The label of that call: what comes before it is answered from the recording. */
  readonly from: string;
  /** What the fork is described as. */
  readonly description: string;
  /** What its request says instead, in the later ones too; null: what the agent sends. */
  readonly edit: MessageEdit | null;
  /** The message that answers it; null: its provider does. */
  readonly answer: WideJsonObject | null;
};
