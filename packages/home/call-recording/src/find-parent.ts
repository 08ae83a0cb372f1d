import { isJsonObject, type WideJson } from '@stemma/canonical';
import type { EventRef } from '@stemma/context-tree';
import type { CallOrigin, HistoryEvent } from '@stemma/events';
import type { Projection } from '@stemma/projector';
import { findCallRow, isRunScope, listWaitingCalls } from '@stemma/read-models';

/** Calls of a run that are looked at. */
const MOST_LOOKED_AT = 32;

/** Shorter texts are in many arguments. */
const LEAST_TEXT = 8;

/**
 * The call that led to a conversation which begins with these messages, as far as the calls of its run say (calls §3.8): of those
 * that wait for tools, the newest one with an argument that the user's texts hold, or that holds one of them; else the only
 * one that waits. A call that had to call one tool asked for an answer in a form, and waits for nobody. Null for calls of no run.
 */
export const findParent = async (
  projection: Projection,
  scope: string,
  messages: readonly WideJson[],
): Promise<CallOrigin | null> => {
  if (!isRunScope(scope)) return null;
  const waiting = await projection.read((rows) => listWaitingCalls(rows, scope, MOST_LOOKED_AT));
  const texts = userTexts(messages);
  let only: CallOrigin | null = null;
  let waits = 0;
  for (const { history, branchId, location } of waiting) {
    const event = (await projection.payloads.events(history, location.seq))[location.index];
    if (event?.type !== 'CallFinished' || (await isForced(projection, history, event.attemptId))) continue;
    waits++;
    const origin = { kind: 'called', history, branchId, attemptId: event.attemptId } as const;
    const said = argumentsIn(event).map((argument) => argument.trim());
    if (said.some((argument) => texts.some((text) => areRelated(argument, text))))
      return { ...origin, why: 'argument' };
    only = { ...origin, why: 'waiting' };
  }
  return waits === 1 ? only : null;
};

/** True if a call was told to call one certain tool: what it says there is its answer. */
const isForced = async (projection: Projection, history: string, attemptId: string): Promise<boolean> => {
  const row = await projection.read((rows) => findCallRow(rows, history, attemptId));
  if (row === undefined) return false;
  const eventAt = async ({ seq, index }: EventRef): Promise<HistoryEvent | undefined> =>
    (await projection.payloads.events(history, seq))[index];
  const started = await eventAt(row.location);
  if (started?.type !== 'CallStarted') return false;
  const parameters = started.payload['data_parameters'] as WideJson | undefined;
  const choice = isJsonObject(parameters) ? parameters['tool_choice'] : undefined;
  const kind = isJsonObject(choice) ? choice['type'] : choice;
  if (kind === 'function' || kind === 'tool' || kind === 'custom') return true;
  if (kind !== 'required' && kind !== 'any') return false;
  const offering = row.toolsAt === null ? started : await eventAt(row.toolsAt);
  const tools = offering?.type === 'CallStarted' ? offering.payload['data_tools'] : undefined;
  return Array.isArray(tools) && tools.length === 1;
};

const areRelated = (argument: string, text: string): boolean =>
  (text.length >= LEAST_TEXT && argument.includes(text)) ||
  (argument.length >= LEAST_TEXT && text.includes(argument));

const argumentsIn = (event: Extract<HistoryEvent, { type: 'CallFinished' }>): readonly string[] => {
  const calls = (event.payload['data_answer'] as { readonly tool_calls?: WideJson } | null)?.tool_calls;
  return Array.isArray(calls) ? (calls as readonly WideJson[]).flatMap(textsOfCall) : [];
};

const textsOfCall = (call: WideJson): readonly string[] => {
  if (!isJsonObject(call)) return [];
  const { function: named, custom } = call;
  if (isJsonObject(custom) && typeof custom['input'] === 'string') return [custom['input']];
  const said = isJsonObject(named) ? named['arguments'] : undefined;
  if (typeof said !== 'string') return [];
  try {
    return textsIn(JSON.parse(said) as WideJson);
  } catch {
    return [said];
  }
};

const textsIn = (value: WideJson): readonly string[] => {
  if (typeof value === 'string') return [value];
  return typeof value === 'object' && value !== null
    ? Object.values(value as object).flatMap((item) => textsIn(item as WideJson))
    : [];
};

const userTexts = (messages: readonly WideJson[]): readonly string[] =>
  messages
    .filter((message) => isJsonObject(message) && message['role'] === 'user')
    .flatMap((message) => textsOfContent((message as { readonly content?: WideJson }).content))
    .map((text) => text.trim());

const textsOfContent = (content: WideJson | undefined): readonly string[] => {
  if (typeof content === 'string') return [content];
  if (!Array.isArray(content)) return [];
  return (content as readonly WideJson[]).flatMap((part) =>
    isJsonObject(part) && typeof part['text'] === 'string' ? [part['text']] : [],
  );
};
