import type { WideJsonObject } from '@stemma/canonical';
import type { WholeCallAttempt } from '@stemma/queries';
import { toolCallsOf } from './chat-message.ts';
import type { RunEnd } from './continue-types.ts';

const CUT: readonly string[] = ['length', 'max_tokens', 'max_output_tokens', 'model_context_window_exceeded'];
const REFUSED: readonly string[] = ['content_filter', 'refusal'];
/** The model goes on when it is shown what it said so far. */
const PAUSED = 'pause_turn';

/** Why a run ends with an answer; null: it goes on. */
export const endOfAnswer = ({
  answer,
  finishReason,
}: Pick<WholeCallAttempt, 'answer' | 'finishReason'>): {
  readonly ended: RunEnd;
  readonly why: string;
} | null => {
  const reason = finishReason ?? '';
  if (CUT.includes(reason)) return { ended: 'length', why: `the answer is cut off (${reason})` };
  if (REFUSED.includes(reason)) return { ended: 'refused', why: `the model refuses (${reason})` };
  if (reason === PAUSED || toolCallsOf(answer as WideJsonObject | null).length > 0) return null;
  return { ended: 'done', why: 'the model has answered and calls no tool' };
};
