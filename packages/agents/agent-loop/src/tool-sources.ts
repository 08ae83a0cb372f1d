import { sha256Hex, type WideJson } from '@stemma/canonical';
import type { BranchRef } from '@stemma/history-store';
import type { Home } from '@stemma/home';
import type { ToolCall } from './chat-message.ts';
import { openRecordedResults } from './recorded-results.ts';
import { runToolCommand, type ToolCommandLimits } from './tool-command.ts';

/** Where the result of a tool comes from: the recording, a command, somebody who is asked. */
export type ToolSource =
  | { readonly kind: 'recorded' }
  | { readonly kind: 'command'; readonly command: string; readonly limits?: ToolCommandLimits }
  /** @returns null if nobody answers */
  | { readonly kind: 'ask'; readonly ask: (call: ToolCall) => Promise<string | null> };

export type ToolResult = {
  readonly content: WideJson;
  readonly isError: boolean;
  readonly by: AnsweredBy;
};

/** What is noted at the node of a result: `recording` with its frame, `command` with the SHA-256 of its text, or `person`. */
type AnsweredBy =
  | { readonly source: 'recording'; readonly seq: number }
  | { readonly source: 'command'; readonly sha256: string }
  | { readonly source: 'person' };

/** True if one of the sources may have given a result. A result that does not say which command gave it may be of any. */
export const mayHaveAnswered = (
  sources: readonly ToolSource[],
  by: { readonly source?: string; readonly sha256?: string },
): boolean =>
  sources.some((each) => {
    switch (each.kind) {
      case 'recorded':
        return by.source === 'recording';
      case 'command':
        return by.source === 'command' && [undefined, sha256Hex(each.command)].includes(by.sha256);
      case 'ask':
        return by.source === 'person';
    }
  });

/** The result of a call by the first source that knows one; null: none does. */
export type AnswerTool = (call: ToolCall, signal: AbortSignal) => Promise<ToolResult | null>;

export const openToolSources = (
  home: Pick<Home, 'read'>,
  branchRef: BranchRef,
  sources: readonly ToolSource[],
  env: Readonly<Record<string, string | undefined>>,
): AnswerTool => {
  let recorded: ReturnType<typeof openRecordedResults> | undefined;
  const answerFrom = async (
    source: ToolSource,
    call: ToolCall,
    signal: AbortSignal,
  ): Promise<ToolResult | null> => {
    switch (source.kind) {
      case 'recorded': {
        const found = (await (recorded ??= openRecordedResults(home, branchRef)))(call);
        return found === undefined
          ? null
          : { content: found.content, isError: found.isError, by: { source: 'recording', seq: found.seq } };
      }
      case 'command': {
        const { command, limits } = source;
        const output = await runToolCommand(command, call, { env, signal, ...(limits && { limits }) });
        return { ...output, by: { source: 'command', sha256: sha256Hex(command) } };
      }
      case 'ask': {
        const content = await source.ask(call);
        return content === null ? null : { content, isError: false, by: { source: 'person' } };
      }
    }
  };
  return async (call, signal) => {
    for (const source of sources) {
      const result = await answerFrom(source, call, signal);
      if (result !== null) return result;
    }
    return null;
  };
};
