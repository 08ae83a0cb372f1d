import type { WideJson, WideJsonObject } from '@stemma/canonical';
import type { HistoryEvent } from '@stemma/events';
import type { BranchRef } from '@stemma/history-store';
import type { Home } from '@stemma/home';
import { sameCallKey, toolCallsOf, type ToolCall } from './chat-message.ts';
import { eventsFrom } from './events-from.ts';

/** What a tool gave, as it was recorded. */
export type RecordedResult = {
  readonly content: WideJson;
  /** True if it was marked as an error. */
  readonly isError: boolean;
  /** The frame that recorded it. */
  readonly seq: number;
};

type Found = RecordedResult & { readonly branchId: number };

/**
 * Looks up what a call of a tool was answered in a history, in any branch and at any time before. Of several answers the
 * newest of the own branch counts, else the first of the others: a model that goes another way meets the answers in the order
 * in which they came.
 */
export const openRecordedResults = async (
  home: Pick<Home, 'read'>,
  { history, branchId }: BranchRef,
): Promise<(call: ToolCall) => RecordedResult | undefined> => {
  const results = new Map<string, Found[]>();
  /** The calls whose result is to come, by id: an id may come again in another branch. */
  const open = new Map<string, string>();
  for await (const { event, seq, branchId: at } of eventsFrom(home, history))
    note(event, seq, at, open, results);
  return (call) => {
    const found = results.get(sameCallKey(call));
    return found?.findLast((each) => each.branchId === branchId) ?? found?.[0];
  };
};

const note = (
  event: HistoryEvent,
  seq: number,
  branchId: number,
  open: Map<string, string>,
  results: Map<string, Found[]>,
): void => {
  if (event.type !== 'NodeInserted' && event.type !== 'NodeImported') return;
  const node = event.node as unknown as WideJsonObject;
  if (node['kind'] === 'call') {
    const [call] = toolCallsOf({ tool_calls: [node['content'] ?? null] });
    if (call !== undefined) open.set(call.id, sameCallKey(call));
    return;
  }
  const id = node['data_tool_call_id'];
  const key = typeof id === 'string' ? open.get(id) : undefined;
  const source = (node['data_answered_by'] as { readonly source?: string } | undefined)?.source;
  if (key === undefined || source === 'recording') return;
  const fields = (node['data_message'] as { readonly fields?: WideJsonObject } | undefined)?.fields;
  const found: Found = {
    content: node['content'] ?? '',
    isError: fields?.['is_error'] === true,
    seq,
    branchId,
  };
  results.set(key, [...(results.get(key) ?? []), found]);
};
