import { canonicalJson, isJsonObject, type WideJson } from '@stemma/canonical';
import type { RerunOptions } from './options.ts';
import type { WorldDifference } from './report/call-results.ts';
import { placeOf, type ReadCall, type ReadHead, type ReadMessage } from './read-call.ts';
import type { Binding } from './values/bindings.ts';
import {
  bindId,
  bindingsOf,
  tentativeBindings,
  noteBinding,
  type CallTimes,
  type TentativeBindings,
  type Ledger,
} from './values/ledger.ts';
import { matchValues, type Tokenizers } from './values/match-values.ts';

/** What calls of a rerun are compared with. */
export type RerunComparison = {
  readonly options: Pick<RerunOptions, 'values' | 'tools'>;
  readonly tokenizers: Tokenizers;
  readonly ledger: Ledger;
  /** Messages that matched in a call that was served, with the values that were bound in them. */
  readonly matched: Map<string, readonly Binding[]>;
};

/** What a comparison found to be the same, before it is known whether all is. */
export type CallDraft = TentativeBindings & {
  /** Messages that matched with other values, by their pair. */
  readonly matched: Map<string, readonly Binding[]>;
  /** Results of tools in whose place the recorded ones stand, by the number of their message. */
  readonly world: Map<number, { readonly a: ReadMessage; readonly b: ReadMessage }>;
};

export const openCallDraft = ({ ledger }: RerunComparison, at: CallTimes): CallDraft => ({
  ...tentativeBindings(ledger, at),
  matched: new Map(),
  world: new Map(),
});

/** Whether a call is the recorded one, but for values that are then bound in the draft. */
export const isSameCall = (
  comparison: RerunComparison,
  recorded: ReadCall,
  now: ReadCall,
  draft: CallDraft,
): boolean =>
  isSameTarget(recorded, now) &&
  recorded.messages.length === now.messages.length &&
  isSameHead(comparison, recorded.head, now.head, draft) &&
  recorded.messages.every((message, i) =>
    isSameMessage(comparison, message, now.messages[i] as ReadMessage, draft, i),
  );

/** Whether two calls ask the same API; of others than those that are read, under the same path. */
export const isSameTarget = (a: ReadCall, b: ReadCall): boolean =>
  a.api === b.api && (a.api !== 'other' || a.path === null || b.path === null || a.path === b.path);

const isSameHead = (
  comparison: RerunComparison,
  recorded: ReadHead,
  now: ReadHead,
  draft: CallDraft,
): boolean =>
  recorded.exact === now.exact
    ? standForThemselves(draft, recorded)
    : isSameValue(comparison, recorded.parameters, now.parameters, draft) &&
      isSameValue(comparison, recorded.tools, now.tools, draft);

/** Whether two values outside of messages are the same, but for values that may differ. */
export const isSameValue = (
  { options, tokenizers }: RerunComparison,
  recorded: WideJson,
  now: WideJson,
  draft: TentativeBindings,
): boolean =>
  options.values === 'strict'
    ? canonicalJson(recorded) === canonicalJson(now)
    : matchValues(recorded, now, 'parameters', tokenizers, draft);

/** Whether a message is the recorded one. @param number its place in both lists */
export const isSameMessage = (
  { options, tokenizers, matched }: RerunComparison,
  recorded: ReadMessage,
  now: ReadMessage,
  draft: CallDraft,
  number: number,
): boolean => {
  if (recorded.exact === now.exact) return options.values === 'strict' || standForThemselves(draft, recorded);
  const pair = `${recorded.exact} ${now.exact}`;
  const known = matched.get(pair) ?? draft.matched.get(pair);
  if (known !== undefined) {
    for (const binding of known) noteBinding(draft, binding);
    return true;
  }
  if (options.values === 'bound' && recorded.masked === now.masked && recorded.role === now.role) {
    const bound = bindingsOf(draft, () =>
      matchValues(recorded.value(), now.value(), placeOf(recorded.role), tokenizers, draft),
    );
    if (bound !== undefined) {
      draft.matched.set(pair, bound);
      return true;
    }
  }
  if (options.tools !== 'recorded' || !isSameResult(recorded, now)) return false;
  draft.world.set(number, { a: recorded, b: now });
  return true;
};

/** Two results of one tool call. */
const isSameResult = ({ role, message }: ReadMessage, now: ReadMessage): boolean =>
  role === 'tool' &&
  now.role === 'tool' &&
  message['tool_call_id'] !== undefined &&
  message['tool_call_id'] === now.message['tool_call_id'];

/** What is equal holds ids that stand for themselves from now on, unless they stand for others. */
const standForThemselves = (
  draft: CallDraft,
  { ids, times }: { readonly ids: readonly string[]; readonly times: readonly string[] },
): boolean => {
  for (const time of times) draft.sameTimes.add(time);
  return ids.every((id) => bindId(draft, id, id));
};

/** A result in the words of the report. */
export const worldDifference = (
  call: string,
  tool: string,
  { a, b }: { readonly a: ReadMessage; readonly b: ReadMessage },
): WorldDifference => ({
  call,
  tool,
  a: contentText(a.message['content']),
  b: contentText(b.message['content']),
});

const contentText = (content: WideJson | undefined): string =>
  typeof content === 'string'
    ? content
    : Array.isArray(content)
      ? (content as readonly WideJson[])
          .map((part) =>
            isJsonObject(part) && typeof part['text'] === 'string' ? part['text'] : canonicalJson(part),
          )
          .join('\n')
      : canonicalJson(content ?? null);
