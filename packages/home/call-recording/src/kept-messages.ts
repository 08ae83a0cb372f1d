import type { WideJson, WideJsonObject } from '@stemma/canonical';
import { erasableOf } from '@stemma/events';
import { branchRefOf } from '@stemma/history-store';
import { chatMessageAt, keptBefore, withKept } from '@stemma/model-apis';
import { toOpenAIMessages } from '@stemma/importers';
import type { Projection } from '@stemma/projector';
import { callsKeptAs, type CallInHistory } from '@stemma/read-models';

import { isInHistory } from './call-scopes.ts';
import type { UnplacedCall } from './record-request-types.ts';
import type { RequestTarget } from './record-unplaced.ts';

/** Reads calls with {@link withKeptMessages}, those of a scope in the order of the calls: one that has to be looked up delays the next ones. */
export const openKeptMessages = (home: RequestTarget, projection: Projection) => {
  const lookups = new Map<string, Promise<unknown>>();
  return async (call: UnplacedCall, scope: string): Promise<UnplacedCall> => {
    const earlier = lookups.get(scope);
    if (earlier === undefined && nameKeptBefore(call) === null) return call;
    const read = Promise.resolve(earlier).then(() => withKeptMessages(home, projection, call, scope));
    const settled = read.catch(() => undefined);
    lookups.set(scope, settled);
    try {
      return await read;
    } finally {
      if (lookups.get(scope) === settled) lookups.delete(scope);
    }
  };
};

/** What of an earlier call a request says that its provider has kept; null: nothing. */
const nameKeptBefore = ({ messages, facts: { api, parameters } }: UnplacedCall): string | null =>
  api === 'openai.responses' || parameters['previous_response_id'] !== undefined
    ? keptBefore(
        api,
        parameters,
        messages.map((message, i) => chatMessageAt(message, `message ${i}`)),
      )
    : null;

/**
 * The call with all that its model was shown: where a request names what its provider has kept of an earlier call, and that one is
 * recorded, its messages and its answer come before those of the request (calls §3.11). Otherwise the call as it is.
 */
const withKeptMessages = async (
  home: RequestTarget,
  projection: Projection,
  call: UnplacedCall,
  scope: string,
): Promise<UnplacedCall> => {
  const name = nameKeptBefore(call);
  if (name === null) return call;
  const messages = call.messages.map((message, i) => chatMessageAt(message, `message ${i}`));
  await home.catchUp();
  const before = await projection.read((rows) => {
    const found = callsKeptAs(rows, name).filter(({ reassignedTo }) => reassignedTo === null);
    return found.find((each) => each.scope === scope) ?? found[0];
  });
  if (before === undefined || !(await mayBeShown(projection, before, call, scope))) return call;
  const kept = [...(await shownTo(home, before)), ...(await answerOf(projection, before))];
  const whole = withKept(kept, messages, name.startsWith('item:') ? 'items' : 'all');
  if (whole === undefined) return call;
  const { history, branchId, attemptId } = before;
  return {
    ...call,
    messages: whole,
    facts: { ...call.facts, place: { ...call.facts.place, kept: { history, branchId, attemptId } } },
  };
};

/** What may have to go is shown in no other history. */
const mayBeShown = async (
  projection: Projection,
  { history, scope: before }: CallInHistory,
  { within }: UnplacedCall,
  scope: string,
): Promise<boolean> => {
  const isThere = isInHistory(within) ? within.history === history : before === scope;
  return isThere || erasableOf(await projection.payloads.events(history, 0)) === undefined;
};

const shownTo = async (
  home: RequestTarget,
  { history, branchId, position }: CallInHistory,
): Promise<readonly WideJsonObject[]> => {
  const { tree, payloads, thread } = await home.view(
    await home.position(branchRefOf(history, branchId), `@s${position}`),
  );
  return toOpenAIMessages(tree, payloads, thread);
};

const answerOf = async (
  projection: Projection,
  { history, finished }: CallInHistory,
): Promise<readonly WideJsonObject[]> => {
  if (finished === null) return [];
  const { seq, index } = finished.location;
  const event = (await projection.payloads.events(history, seq))[index];
  const answer =
    event?.type === 'CallFinished' ? (event.payload['data_answer'] as WideJson | undefined) : undefined;
  return answer == null ? [] : [answer as WideJsonObject];
};
