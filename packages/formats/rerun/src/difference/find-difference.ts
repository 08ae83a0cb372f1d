import { canonicalJson, type WideJson } from '@stemma/canonical';
import { requestChanges, valueChanges, type ValueChange } from '@stemma/model-apis';
import {
  isSameMessage,
  isSameTarget,
  isSameValue,
  openCallDraft,
  type CallDraft,
  type RerunComparison,
} from '../compare-calls.ts';
import type { ReadCall, ReadMessage } from '../read-call.ts';
import type { CallTimes, IdConflict } from '../values/ledger.ts';
import { firstDifference, type MessagesDiffer } from './first-difference.ts';
import type { AskedBy, DifferenceCause, Difference } from './difference.ts';
import { calledTool, isList, messageText } from './message-text.ts';

/** What a difference says besides the calls themselves. */
export type DifferenceContext = {
  readonly comparison: RerunComparison;
  readonly at: CallTimes;
  /** The label of the recorded call. */
  readonly of: string;
  readonly among: number;
  /** The label of the recorded call whose answer has a tool call; null: none has. */
  readonly askedIn: (toolCall: string) => string | null;
};

/**
 * What differs first between a recorded call and one that stands in its place, and the draft of what is the same.
 *
 * @returns a difference even if only an id stands for another one elsewhere
 */
export const findDifference = (
  context: DifferenceContext,
  recorded: ReadCall,
  now: ReadCall,
): { readonly difference: Difference; readonly draft: CallDraft } => {
  const { comparison, at } = context;
  const draft = openCallDraft(comparison, at);
  const head = headDifference(context, recorded, now, draft);
  const differ = firstDifference(recorded.messages, now.messages, (a, b, number) =>
    isSameMessage(comparison, a, b, draft, number),
  );
  const found = head ?? (differ === null ? null : messageDifference(context, recorded, differ, draft));
  const difference = found ?? {
    ...nothing(context, 'parameters'),
    conflict: draft.conflict,
  };
  return { difference, draft };
};

const nothing = ({ of, among }: DifferenceContext, cause: DifferenceCause): Difference => ({
  of,
  among,
  cause,
  message: null,
  role: null,
  name: null,
  a: null,
  b: null,
  askedBy: null,
  conflict: null,
  gone: 0,
});

const headDifference = (
  context: DifferenceContext,
  recorded: ReadCall,
  now: ReadCall,
  draft: CallDraft,
): Difference | null => {
  const { comparison } = context;
  const differs = (
    cause: DifferenceCause,
    name: string,
    a: WideJson | undefined,
    b: WideJson | undefined,
  ): Difference => ({
    ...nothing(context, cause),
    name,
    a: a === undefined ? null : canonicalJson(a),
    b: b === undefined ? null : canonicalJson(b),
    conflict: canonicalJson(a ?? null) === canonicalJson(b ?? null) ? draft.conflict : null,
  });
  if (!isSameTarget(recorded, now))
    return recorded.api === now.api
      ? differs('parameters', 'path', recorded.path, now.path)
      : differs('parameters', 'api', recorded.api, now.api);
  const [a, b] = [recorded.head.parameters, now.head.parameters];
  const names = [...new Set([...Object.keys(a), ...Object.keys(b)])].sort((x, y) => (x < y ? -1 : 1));
  for (const name of names) {
    const [old, fresh] = [a[name], b[name]];
    if (old === undefined || fresh === undefined) return differs('parameters', name, old, fresh);
    if (isSameValue(comparison, old, fresh, draft)) continue;
    const change = changeIn(comparison, valueChanges(old, fresh), draft);
    const path = change === undefined || change.path === '' ? name : `${name}.${change.path}`;
    return differs('parameters', path, change?.before ?? old, change?.after ?? fresh);
  }
  return isSameValue(comparison, recorded.head.tools, now.head.tools, draft)
    ? null
    : toolDifference(comparison, recorded.head.tools, now.head.tools, draft, differs);
};

/** Of what differs, the first that may not. */
const changeIn = (
  comparison: RerunComparison,
  changes: readonly ValueChange[],
  draft: CallDraft,
): ValueChange | undefined =>
  changes.find(
    ({ before, after }) =>
      before === undefined || after === undefined || !isSameValue(comparison, before, after, draft),
  ) ?? changes[0];

const toolDifference = (
  comparison: RerunComparison,
  recorded: WideJson,
  now: WideJson,
  draft: CallDraft,
  differs: (
    cause: DifferenceCause,
    name: string,
    a: WideJson | undefined,
    b: WideJson | undefined,
  ) => Difference,
): Difference => {
  const [before, after] = [listOf(recorded), listOf(now)];
  const changes = requestChanges({ tools: before, parameters: {} }, { tools: after, parameters: {} });
  for (const { name, change, fields } of changes) {
    const definitionIn = (tools: readonly WideJson[]): WideJson | undefined =>
      tools.find((tool) => nameOfTool(tool) === name) ?? name;
    if (change === 'added') return differs('tools', name, undefined, definitionIn(after));
    if (change === 'removed') return differs('tools', name, definitionIn(before), undefined);
    if (change === 'moved') return differs('tools', name, before.map(nameOfTool), after.map(nameOfTool));
    const field = changeIn(comparison, fields, draft);
    if (field !== undefined && differsIn(comparison, field, draft))
      return differs('tools', `${name}.${field.path}`, field.before, field.after);
  }
  return differs('tools', 'tools', recorded, now);
};

const differsIn = (comparison: RerunComparison, { before, after }: ValueChange, draft: CallDraft): boolean =>
  before === undefined || after === undefined || !isSameValue(comparison, before, after, draft);

const listOf = (tools: WideJson): readonly WideJson[] => (isList(tools) ? tools : []);

const nameOfTool = (tool: WideJson): string => {
  if (typeof tool !== 'object' || tool === null || isList(tool)) return '?';
  const { name, type } = tool as Readonly<Record<string, WideJson>>;
  if (typeof name === 'string') return name;
  const called = calledTool(tool).name;
  return called === '?' && typeof type === 'string' ? type : called;
};

const CAUSES: Readonly<Record<string, DifferenceCause>> = {
  system: 'prompt',
  developer: 'prompt',
  tool: 'tool result',
  function: 'tool result',
  assistant: 'answer edited',
};

const messageDifference = (
  context: DifferenceContext,
  recorded: ReadCall,
  { kind, message, a, b, gone }: MessagesDiffer,
  draft: CallDraft,
): Difference => {
  const role = a?.role ?? b?.role ?? '';
  const [before, after] = textsOf(a, b);
  const cause = kind === 'one' ? (CAUSES[role] ?? 'question') : kind;
  return {
    ...nothing(context, cause),
    message,
    role,
    a: before,
    b: after,
    askedBy: role === 'tool' ? askedBy(context, recorded, a ?? b) : null,
    conflict: before === after ? conflictOf(draft) : null,
    gone,
  };
};

const conflictOf = ({ conflict }: CallDraft): IdConflict | null => conflict;

/** What two messages say; their JSON where that is the same. */
const textsOf = (a: ReadMessage | null, b: ReadMessage | null): readonly [string | null, string | null] => {
  const [before, after] = [a && messageText(a.message), b && messageText(b.message)];
  return before !== after || a === null || b === null || a.exact === b.exact
    ? [before, after]
    : [canonicalJson(a.value()), canonicalJson(b.value())];
};

const askedBy = (
  { askedIn }: DifferenceContext,
  { messages }: ReadCall,
  result: ReadMessage | null,
): AskedBy | null => {
  const id = result?.message['tool_call_id'];
  if (typeof id !== 'string') return null;
  for (const { message } of messages) {
    const { tool_calls: calls } = message;
    if (!isList(calls)) continue;
    const call = calls.find(
      (each) => typeof each === 'object' && each !== null && 'id' in each && each.id === id,
    );
    if (call === undefined) continue;
    const { name, said } = calledTool(call);
    return { tool: name, arguments: said, call: askedIn(id) };
  }
  return null;
};
