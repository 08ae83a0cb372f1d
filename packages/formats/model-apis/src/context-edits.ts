import { isJsonObject, type WideJson, type WideJsonObject } from '@stemma/canonical';
import { countOrNull, type ContextEdit } from './answer.ts';
import type { ModelApi } from './api-names.ts';
import { isList, objectOrEmpty, textOrNull } from './body.ts';
import { responsesItems } from './responses/write-items.ts';

/** So many edits of one answer are kept, and so many characters of a name. */
const MOST_EDITS = 32;
const MOST_CHARACTERS = 100;

/** The edits that the body of an answer says were applied: `context_management.applied_edits` of Anthropic's API. */
export const appliedEdits = (body: WideJsonObject): readonly ContextEdit[] => {
  const applied = objectOrEmpty(body['context_management'])['applied_edits'];
  return (isList(applied) ? applied : []).slice(0, MOST_EDITS).flatMap((edit): ContextEdit[] => {
    if (!isJsonObject(edit)) return [];
    const type = textOrNull(edit['type'])?.slice(0, MOST_CHARACTERS) ?? 'an edit without a type';
    const counts = Object.entries(edit).flatMap(([name, value]): [string, number][] => {
      const count = name.startsWith(CLEARED) && name.length <= MOST_CHARACTERS ? countOrNull(value) : null;
      return count === null ? [] : [[name, count]];
    });
    return [{ type, ...Object.fromEntries(counts) }];
  });
};

const CLEARED = 'cleared_';
const TOKENS = 'cleared_input_tokens';
const TOOL_USES = 'cleared_tool_uses';

/** What a call says of the context that its model was shown. */
export type EditedContext = {
  readonly api: ModelApi;
  readonly parameters: WideJson;
  /** What the request holds, in the form of OpenAI's chat API. */
  readonly messages: readonly WideJsonObject[];
  readonly answer: WideJson;
  readonly edits: readonly ContextEdit[];
};

/**
 * What a provider took out of the messages of a call before its model saw them, or may have taken out: one sentence without a full stop
 * for each. What it does not say itself is said as `may`.
 */
export const changedByProvider = (context: EditedContext): readonly string[] => {
  const { api, parameters, answer, edits } = context;
  if (api !== 'anthropic.messages' && api !== 'openai.responses') return [];
  const compacts = api === 'anthropic.messages' ? 'compaction block' : 'compaction item';
  return [
    ...edits.flatMap((edit) => appliedSentence(edit, context)),
    ...compactedSentence(context, compacts),
    ...(isJsonObject(answer) && hasCompaction(answer)
      ? [
          `the provider compacted the context in this call (its answer has a ${compacts}): which messages the model was still shown, nobody says`,
        ]
      : []),
    ...(api === 'openai.responses' && objectOrEmpty(parameters)['truncation'] === 'auto'
      ? ['with truncation auto the provider may have dropped the oldest messages, and does not say so']
      : []),
  ];
};

/** `the provider cleared 2 tool uses (48 tokens) before the model`, and which these may be. */
const appliedSentence = (edit: ContextEdit, context: EditedContext): readonly string[] => {
  const counts = Object.entries(edit).filter(([name]) => name.startsWith(CLEARED) && name !== TOKENS);
  const cleared = counts.filter(([, count]) => count !== 0).map(([name, count]) => counted(name, count));
  const tokens = edit[TOKENS];
  // An edit that counts, and counts nothing, changed nothing.
  if (cleared.length === 0 && (counts.length > 0 || tokens === 0)) return [];
  const what = cleared.length === 0 ? `applied ${edit['type']}` : `cleared ${cleared.join(' and ')}`;
  const size = tokens === undefined ? '' : ` (${tokens} token${tokens === 1 ? '' : 's'})`;
  const uses = edit[TOOL_USES];
  const which = typeof uses === 'number' ? oldestToolUses(context, String(edit['type']), uses) : '';
  return [`the provider ${what}${size} before the model${which}`];
};

const counted = (name: string, count: string | number): string => {
  const words = name.slice(CLEARED.length).replaceAll('_', ' ');
  return `${count} ${count === 1 ? words.replace(/s$/, '') : words}`;
};

/** So many ids are named. */
const MOST_NAMED = 5;

/** By the rules of the API the oldest tool uses go first, but for tools that the request excludes; no answer says which went. */
const oldestToolUses = ({ parameters, messages }: EditedContext, type: string, count: number): string => {
  const { edits } = objectOrEmpty(objectOrEmpty(parameters)['context_management'] ?? null);
  const asked = (isList(edits) ? edits : []).find((edit) => isJsonObject(edit) && edit['type'] === type);
  const excluded = objectOrEmpty(asked ?? null)['exclude_tools'];
  const isExcluded = (name: WideJson | undefined): boolean =>
    isList(excluded) && name !== undefined && excluded.includes(name);
  const answered = new Set(messages.map((message) => message['tool_call_id']));
  const ids = messages.flatMap(({ tool_calls: calls }) =>
    (isList(calls) ? calls : []).flatMap((call) => {
      const { id, function: called } = objectOrEmpty(call);
      const isGone = typeof id === 'string' && answered.has(id);
      return isGone && !isExcluded(objectOrEmpty(called ?? null)['name']) ? [id] : [];
    }),
  );
  if (ids.length < count || count === 0) return '';
  const named = ids.slice(0, Math.min(count, MOST_NAMED)).join(', ');
  return `: the oldest go first, so these may be ${named}${count > MOST_NAMED ? ', …' : ''}`;
};

/** What stands before the newest compaction of the request is not shown, or may not be. */
const compactedSentence = ({ api, messages }: EditedContext, compacts: string): readonly string[] => {
  const at = messages.findLastIndex(hasCompaction);
  if (at === -1) return [];
  const before = messages.slice(0, at).filter(({ role }) => role !== 'system' && role !== 'developer').length;
  const replaced = `${before} message${before === 1 ? '' : 's'} before the ${compacts}`;
  if (api === 'anthropic.messages')
    return before === 0 ? [] : [`the provider shows the model the ${compacts} in place of the ${replaced}`];
  const isHidden = `what its ${compacts} says is encrypted`;
  return [before === 0 ? isHidden : `${isHidden}, and the model may not have been shown the ${replaced}`];
};

const hasCompaction = (message: WideJsonObject): boolean => {
  const { content } = message;
  const parts = isList(content) ? content : [];
  return [...parts, ...responsesItems(message)].some(
    (part) => isJsonObject(part) && COMPACTIONS.includes(textOrNull(part['type']) ?? ''),
  );
};

const COMPACTIONS: readonly string[] = ['compaction', 'compaction_summary'];
