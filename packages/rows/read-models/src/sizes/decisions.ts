import type { WideJson } from '@stemma/canonical';
import { removalBy, removedIds, type HistoryEvent, type RecordedNode, type Removal } from '@stemma/events';
import { isFailedBlock, toolCallOf } from '@stemma/model-apis';

/** A tool that messages since the newest snapshot call, or whose result they bring. */
export type DecidedTool = {
  /** The id of the call; null: it has none. */
  readonly id: string | null;
  /** Empty: a result came whose call and name are not known. */
  readonly name: string;
  readonly state: 'called' | 'answered' | 'failed';
};

/** What the messages since the newest snapshot show of the call with that snapshot. */
export type Decisions = {
  /** Texts of the model. */
  readonly said: number;
  readonly tools: readonly DecidedTool[];
  /** Messages of the kind `summary` that came. */
  readonly summaries: number;
};

export const NO_DECISIONS: Decisions = { said: 0, tools: [], summaries: 0 };

/** The same after the events of a frame. What a person put there, no model decided. */
export const decisionsAfter = (before: Decisions, events: readonly HistoryEvent[]): Decisions => {
  if (events.some(({ type }) => type === 'InterventionRecorded')) return before;
  let { said, summaries } = before;
  const tools = [...before.tools];
  for (const event of events) {
    if (event.type !== 'NodeInserted' && event.type !== 'NodeImported') continue;
    const { role, kind } = event.node;
    if (kind === 'summary') summaries++;
    const called = kind === 'call' ? toolCallOf(contentOf(event.node)) : null;
    if (called !== null) tools.push({ id: called.id, name: called.name, state: 'called' });
    else if (role === 'assistant') said++;
    else if (role === 'tool' || role === 'function' || kind === 'result') addResult(tools, event.node);
  }
  return { said, tools, summaries };
};

/** A result belongs to the call of its id; without one, to the first call that has no result. */
const addResult = (tools: DecidedTool[], node: RecordedNode): void => {
  const state = isFailedBlock(node.role, node) ? 'failed' : 'answered';
  const given = node['data_tool_call_id'];
  const id = typeof given === 'string' ? given : null;
  const at = tools.findIndex((each) => (id === null ? each.state === 'called' : each.id === id));
  const found = tools[at];
  const name = node['data_name'];
  if (found === undefined) tools.push({ id, name: typeof name === 'string' ? name : '', state });
  else tools[at] = { ...found, state };
};

const contentOf = (node: RecordedNode): WideJson => (node['content'] ?? null) as WideJson;

/** How many messages were removed since the newest snapshot, by what removed them. */
export type GoneBy = { readonly [Cause in Removal]?: number };

/** What removes each node of a frame. */
export const removalsOf = (events: readonly HistoryEvent[]): ReadonlyMap<string, Removal> => {
  const removals = new Map<string, Removal>();
  for (const event of events) {
    const removal = removalBy(event);
    if (removal !== null) for (const id of removedIds(event)) removals.set(id, removal);
  }
  return removals;
};
