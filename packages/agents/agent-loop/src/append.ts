import type { WideJsonObject } from '@stemma/canonical';
import type { Author } from '@stemma/events';
import type { BranchRef } from '@stemma/history-store';
import type { Home } from '@stemma/home';
import { draftStep } from '@stemma/importers';
import { asHistoryMessage, type ToolCall } from './chat-message.ts';
import { defined } from '@stemma/values';
import type { ToolResult } from './tool-sources.ts';

type Appended = {
  readonly id: string;
  readonly by: Author;
  /** The messages before it. */
  readonly ordinal: number;
  readonly notes?: string;
};

/** Adds an answer to the draft of a branch: the next call shows it. */
export const appendAnswer = async (
  home: Pick<Home, 'submit'>,
  { history, branchId }: BranchRef,
  answer: WideJsonObject,
  { id, by, ordinal, notes }: Appended,
): Promise<void> => {
  const steps = [draftStep(asHistoryMessage(answer), ordinal)];
  await home.submit({ id, history, branchId, by, ...defined({ notes }), steps });
};

/** Adds the result of a tool to the draft of a branch, with a note where it comes from. */
export const appendResult = async (
  home: Pick<Home, 'submit'>,
  { history, branchId }: BranchRef,
  call: ToolCall,
  result: ToolResult,
  { id, by, ordinal }: Appended,
): Promise<void> => {
  const step = draftStep(
    {
      role: 'tool',
      tool_call_id: call.id,
      content: result.content,
      ...(result.isError ? { is_error: true } : {}),
    },
    ordinal,
  );
  const node = { ...step.node, data_answered_by: { ...result.by } };
  await home.submit({ id, history, branchId, by, steps: [{ ...step, node }] });
};
