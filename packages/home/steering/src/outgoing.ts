import type { WideJson, WideJsonObject } from '@stemma/canonical';
import type { CallApi, SteeringChange } from '@stemma/events';
import { blocksToMessages, messageGroups } from '@stemma/importers';
import { answeredCall, callIdsOf, faultInPairs, type OutgoingMessage } from '@stemma/model-apis';
import type { SteeredBlock } from './agents-list.ts';
import type { Alignment } from './align.ts';

/** A request that goes out: its messages, and what of them observers changed; or why it cannot go so. */
export type Outgoing =
  | { readonly messages: readonly OutgoingMessage[]; readonly changes: readonly SteeringChange[] }
  | { readonly fault: string };

/**
 * The messages of a request that shows a snapshot. Those that nobody changed are kept as they came.
 *
 * @param blocks of the snapshot @param wanted the messages that came
 */
export const outgoingMessages = (
  api: CallApi,
  blocks: readonly SteeredBlock[],
  { messages: indexes, steps }: Alignment,
  wanted: readonly WideJson[],
): Outgoing => {
  if (steps.length > 0) return { fault: 'the branch does not show the messages of the call' };
  const messages: OutgoingMessage[] = [];
  const changes: SteeringChange[] = [];
  for (const group of messageGroups(blocks)) {
    const [first] = group;
    if (first === undefined) continue;
    for (const { change, id } of group)
      if (change !== null) changes.push({ what: change.what, node: id, seq: change.by });
    const there = group.filter(({ change }) => change?.what !== 'removed');
    if (there.length === 0) continue;
    const index = indexes.get(first.id);
    if (index !== undefined && group.every(({ change }) => change === null)) messages.push({ keep: index });
    else for (const write of written(there)) messages.push({ write, system: first.inSys });
  }
  const placed = behindResults(messages, wanted, api);
  const shown = placed.map((each) => ('keep' in each ? (wanted[each.keep] ?? null) : each.write));
  const fault = faultInPairs(shown);
  if (fault !== null && faultInPairs(wanted) === null) return { fault };
  return { messages: placed, changes };
};

const written = (blocks: readonly SteeredBlock[]): WideJsonObject[] => {
  const [first, ...rest] = blocks;
  if (first === undefined || first.payload['data_message'] !== undefined) return blocksToMessages(blocks);
  // The block that said which message this is was removed: what is left of the message says it now.
  const note = { ordinal: first.payload['data_continues'] ?? 0, content: 'parts' };
  const { data_continues: _on, ...payload } = first.payload;
  if (first.payload['data_continues'] === undefined) return blocksToMessages(blocks);
  return blocksToMessages([{ ...first, payload: { ...payload, data_message: note } }, ...rest]);
};

/**
 * What observers inserted between a tool call and its results stands behind these. Anthropic's API continues an assistant's
 * message at the end of a list: there it stands before that one.
 */
const behindResults = (
  messages: readonly OutgoingMessage[],
  wanted: readonly WideJson[],
  api: CallApi,
): OutgoingMessage[] => {
  const placed: OutgoingMessage[] = [];
  let waiting: OutgoingMessage[] = [];
  const open = new Set<string>();
  for (const each of messages) {
    const message = 'keep' in each ? (wanted[each.keep] ?? null) : each.write;
    const answered = answeredCall(message);
    if (answered !== null) {
      placed.push(each);
      open.delete(answered);
    } else if (open.size > 0 && 'write' in each && !each.system) {
      waiting.push(each);
      continue;
    } else {
      open.clear();
      placed.push(each);
      for (const id of callIdsOf(message)) open.add(id);
    }
    if (open.size > 0) continue;
    placed.push(...waiting);
    waiting = [];
  }
  placed.push(...waiting);
  return api === 'anthropic.messages' ? beforePrefill(placed, wanted) : placed;
};

const beforePrefill = (
  messages: readonly OutgoingMessage[],
  wanted: readonly WideJson[],
): OutgoingMessage[] => {
  const last = wanted.length - 1;
  const role = (wanted[last] as WideJsonObject | undefined)?.['role'];
  const at = messages.findIndex((each) => 'keep' in each && each.keep === last);
  if (role !== 'assistant' || at === -1) return [...messages];
  const [prefill, ...inserted] = messages.slice(at) as [OutgoingMessage, ...OutgoingMessage[]];
  return [...messages.slice(0, at), ...inserted, prefill];
};
