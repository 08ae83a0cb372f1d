import { isJsonObject, type WideJson } from '@stemma/canonical';
import type { EventRef } from '@stemma/context-tree';
import type { CallOrigin, HistoryEvent } from '@stemma/events';
import { isRunScope } from '@stemma/history';
import { argumentTexts, isToldIn, LEAST_TOLD, userTexts } from '@stemma/model-apis';
import type { Projection } from '@stemma/projector';
import { callsThatAsked, findCallRow, listWaitingCalls, type CallInHistory } from '@stemma/read-models';

/** Calls of a run that are looked at. */
const MOST_LOOKED_AT = 32;

/**
 * The call that led to a conversation which begins with these messages, as far as the calls of its run say (calls §3.8): the newest one
 * with an argument that is one of the user's texts; of those that wait for tools, the newest one with an argument that the texts hold,
 * or that holds one of them; else the only one that waits. A call that had to call one tool asked for an answer in a form, and waits
 * for nobody. Null for calls of no run.
 */
export const findParent = async (
  projection: Projection,
  scope: string,
  messages: readonly WideJson[],
): Promise<CallOrigin | null> => {
  if (!isRunScope(scope)) return null;
  const texts = userTexts(messages);
  const asked = await whoAsked(projection, scope, texts);
  if (asked !== undefined) return asked;
  const waiting = await projection.read((rows) => listWaitingCalls(rows, scope, MOST_LOOKED_AT));
  let only: CallOrigin | null = null;
  let waits = 0;
  for (const { history, branchId, location } of waiting) {
    const event = (await projection.payloads.events(history, location.seq))[location.index];
    if (event?.type !== 'CallFinished' || (await isForced(projection, history, event.attemptId))) continue;
    waits++;
    const origin = { kind: 'called', history, branchId, attemptId: event.attemptId } as const;
    const said = argumentTexts(event.payload['data_answer'] as WideJson);
    if (said.some((argument) => texts.some((text) => isToldIn(argument, text))))
      return { ...origin, why: 'argument' };
    only = { ...origin, why: 'waiting' };
  }
  return waits === 1 ? only : null;
};

/** Texts of a user that are looked for. */
const MOST_TEXTS = 8;

/** The newest call with an argument that is one of the texts, whatever has followed it: helpers may run beside who asked for them. */
const whoAsked = async (
  projection: Projection,
  scope: string,
  texts: readonly string[],
): Promise<CallOrigin | undefined> => {
  const long = texts.filter(({ length }) => length >= LEAST_TOLD).slice(-MOST_TEXTS);
  const asked = await projection.read((rows) => long.flatMap((text) => callsThatAsked(rows, scope, text)));
  for (const { history, branchId, attemptId, reassignedTo } of asked.sort(byAge))
    if (reassignedTo === null && !(await isForced(projection, history, attemptId)))
      return { kind: 'called', history, branchId, attemptId, why: 'argument' };
  return undefined;
};

const byAge = (a: CallInHistory, b: CallInHistory): number => (a.at === b.at ? 0 : a.at < b.at ? 1 : -1);

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
