import type { Outcome } from '@stemma/command-handler';
import { readBodyAt } from '@stemma/call-bodies';
import { sha256Hex, toHex, type WideJson } from '@stemma/canonical';
import { fail, isStemmaError } from '@stemma/errors';
import { erasableOf, isBodyKept, type CallAddress, type HistoryEvent } from '@stemma/events';
import { historyId, namesLike, runOfScope, underFreeName } from '@stemma/history';
import { branchRefOf, type BranchRef } from '@stemma/history-store';
import { nameOfMessages, toOpenAIMessages } from '@stemma/importers';
import type { ContextEdit } from '@stemma/model-apis';
import type { Projection } from '@stemma/projector';
import { authorOf, callsAfter, findCallRow, findFrameSummary, type CallRow } from '@stemma/read-models';
import { defined } from '@stemma/values';

import type { CallEnd } from './finish-call.ts';

import type { Call, CallOutcome } from './record-call-types.ts';
import type { CallTarget } from './record-call.ts';
import type { CallFacts } from './start-call.ts';

/** Where a call belongs: to a branch, or to a conversation of its own, in a new history. */
export type CallDestination = { readonly branch: BranchRef } | { readonly newHistory: string | null };

/** Who corrects, and why. */
export type Corrector = { readonly by: { readonly actor: string }; readonly notes: string };

export type AssignedCall = { readonly from: CallAddress; readonly to: CallAddress };

/** What assigning needs of a home. */
export type AssignTarget = CallTarget & {
  recordCall(branch: BranchRef, call: Call): Promise<CallOutcome>;
  finishCall(branch: BranchRef, end: CallEnd): Promise<Outcome>;
  catchUp(): Promise<void>;
};

/**
 * Corrects the guess about whose conversation a call is (calls §8): records it where it belongs, with its bytes, its answer and all
 * that is known of it, and marks where it was. What was recorded stays. The ids of the commands follow from the call and the
 * place, so one that was interrupted ends when it is sent again.
 *
 * @throws E_CALL_NOT_FOUND; E_COMMAND_INVALID if it is there already, or was assigned elsewhere; E_TARGET_NOT_ERASABLE if the
 *   call's history is erasable and the other is not, or about somebody else; as `recordCall`
 */
export const assignCall = async (
  home: AssignTarget,
  projection: Projection,
  { history, attemptId }: { readonly history: string; readonly attemptId: string },
  destination: CallDestination,
  { by, notes }: Corrector,
): Promise<AssignedCall> => {
  await home.catchUp();
  const row = await projection.read((rows) => findCallRow(rows, history, attemptId));
  if (row === undefined)
    throw fail('E_CALL_NOT_FOUND', `the history has no call ${attemptId.slice(0, 200)}`, {
      attempt: attemptId,
    });
  const from = { history, branchId: row.branchId, attemptId };
  const target = await targetOf(home, projection, { row, history }, destination, by);
  const id = `${attemptId}.assigned.${sha256Hex(`${target.history} ${target.branchId}`).slice(0, 8)}`;
  refuseAgain(row, from, target, id);
  const branch = await recordAt(home, projection, { row, from, target, id });
  const to = { history: branch.history, branchId: branch.branchId, attemptId: id };
  const started = await eventAt(projection, history, row);
  const prompt =
    started?.type === 'CallStarted' && started.prompt !== null
      ? { list: started.prompt.list, brings: [...started.prompt.brings] }
      : null;
  await home.submit({
    id: `${id}.mark`,
    ...{ history, branchId: row.branchId, by, notes },
    steps: [{ op: 'reassign_call', attemptId, to, prompt }],
  });
  return { from, to };
};

/**
 * As {@link assignCall}, for a call and those after it on its branch, to one place. What was assigned before an error stays
 * assigned; sent again it goes on.
 *
 * @throws as {@link assignCall}
 */
export const assignFrom = async (
  home: AssignTarget,
  projection: Projection,
  call: { readonly history: string; readonly attemptId: string },
  destination: CallDestination,
  corrector: Corrector,
): Promise<readonly AssignedCall[]> => {
  const { history } = call;
  const first = await assignCall(home, projection, call, destination, corrector);
  const following = await projection.read((rows) => {
    const row = findCallRow(rows, history, call.attemptId);
    return row === undefined ? [] : callsAfter(rows, history, row);
  });
  const assigned = [first];
  for (const { attemptId, reassignedTo } of following) {
    if (reassignedTo !== null) continue;
    const { history: there, branchId } = (assigned.at(-1) as AssignedCall).to;
    const branch = { branch: branchRefOf(there, branchId) };
    assigned.push(await assignCall(home, projection, { history, attemptId }, branch, corrector));
  }
  return assigned;
};

/** Where the call goes; a new history is named after what is said first in the call, unless somebody names it. */
const targetOf = async (
  home: AssignTarget,
  projection: Projection,
  { row, history }: { readonly row: CallRow; readonly history: string },
  destination: CallDestination,
  by: Corrector['by'],
): Promise<BranchRef> => {
  const startOf = (id: string) => projection.payloads.events(id, 0);
  const erasable = erasableOf(await startOf(history));
  if ('branch' in destination) {
    const { branch } = destination;
    if (erasable !== undefined && branch.history !== history) {
      const there = erasableOf(await startOf(branch.history));
      if (there?.subject !== erasable.subject)
        throw fail(
          'E_TARGET_NOT_ERASABLE',
          `the call is of an erasable history${erasable.subject === null ? '' : ` about ${JSON.stringify(erasable.subject)}`}, and ${branch.history} is not: erasing would leave it there`,
          { history: branch.history },
        );
    }
    return branch;
  }
  const id = `${row.attemptId}.assigned.new`;
  const begin = async (name: string | null, started: string): Promise<BranchRef> => {
    const start = { op: 'start', name, ...(erasable && { erasable }) } as const;
    await home.submit({ id, history: started, branchId: 0, by, steps: [start] });
    return branchRefOf(started, 0);
  };
  const { newHistory: name } = destination;
  if (name !== null) return begin(name, historyId(name, ''));
  // Names stand in the clear: that of an erasable history says nothing of its contents.
  const words = erasable ? undefined : nameOfMessages(await messagesOf(home, history, row));
  const command = `${history} ${id}`;
  return underFreeName(namesLike(words, command), command, begin);
};

const refuseAgain = (row: CallRow, from: CallAddress, target: BranchRef, id: string): void => {
  if (target.history === from.history && target.branchId === from.branchId)
    throw fail('E_COMMAND_INVALID', `the call ${from.attemptId.slice(0, 200)} is on this branch already`);
  const { reassignedTo } = row;
  if (reassignedTo !== null && reassignedTo.attemptId !== id)
    throw fail(
      'E_COMMAND_INVALID',
      `the call ${from.attemptId.slice(0, 200)} was assigned before: it is ${reassignedTo.attemptId.slice(0, 200)} in ${reassignedTo.history} now`,
    );
};

type Assignment = {
  readonly row: CallRow;
  readonly from: CallAddress;
  readonly target: BranchRef;
  /** The attempt at the target. */
  readonly id: string;
};

/** Records the call and its end at the target; returns the branch, which may be another after a rollback. */
const recordAt = async (
  home: AssignTarget,
  projection: Projection,
  { row, from, target, id }: Assignment,
): Promise<BranchRef> => {
  const { history } = from;
  const known = await projection.read((rows) => findCallRow(rows, target.history, id));
  const by = await projection.read((rows) => authorOf(findFrameSummary(rows, history, row.location.seq)));
  let branch = known === undefined ? target : branchRefOf(target.history, known.branchId);
  if (known === undefined) {
    const messages = await messagesOf(home, history, row);
    const started = await eventAt(projection, history, row);
    const tools = await eventAt(projection, history, { location: row.toolsAt });
    const recorded = home.recordCall(target, {
      id,
      by,
      messages,
      facts: {
        api: row.api,
        model: row.model,
        parameters: payloadOf(started, 'data_parameters') as { readonly [name: string]: WideJson },
        tools: payloadOf(tools, 'data_tools') as readonly WideJson[] | null,
        request: await bodyAt(projection, history, row.location, row.request),
        sent: started?.type === 'CallStarted' ? started.sent : null,
        ...placeOf(row),
        found: {
          scope: row.scope ?? `history:${target.history}`,
          match: 'assigned',
          origin: { kind: 'assigned', ...from },
        },
      },
    });
    const outcome = await recorded.catch((error: unknown) => {
      if (!isStemmaError(error, 'E_SEALED')) throw error;
      throw fail(
        'E_MESSAGES_DIFFER',
        `the messages of the call ${from.attemptId.slice(0, 200)} do not go on from those that ${target.history} shows, and these were imported, so they stay as they are`,
        { history: target.history, call: from.attemptId },
      );
    });
    branch = branchRefOf(outcome.history, outcome.branchId);
  }
  const { finished } = row;
  if (finished === null) return branch;
  const ended = await eventAt(projection, history, finished);
  const {
    location,
    response,
    choices: _,
    contentType: _type,
    coding: _coding,
    retryAfter: _after,
    ...end
  } = finished;
  const edits = payloadOf(ended, 'data_context_edits');
  const others = payloadOf(ended, 'data_choices') as readonly WideJson[] | null;
  await home.finishCall(branch, {
    ...end,
    by,
    attemptId: id,
    answer: payloadOf(ended, 'data_answer'),
    ...(edits !== null && { contextEdits: edits as readonly ContextEdit[] }),
    answerId: (payloadOf(ended, 'data_answer_id') as string | null) ?? undefined,
    ...(ended?.type === 'CallFinished' && ended.choices !== null ? { others: others ?? [] } : {}),
    ...(ended?.type === 'CallFinished' ? { sentAt: ended.sentAt, head: ended.head } : {}),
    response: await bodyAt(projection, history, location, response),
  });
  return branch;
};

/** What else was known of where it belongs, and holds there, too. */
const placeOf = ({ session, run, scope }: CallRow): Pick<CallFacts, 'place'> => {
  const isSaid = scope !== null && runOfScope(scope) === run;
  const place = defined({ session: session ?? undefined, run: isSaid ? undefined : (run ?? undefined) });
  return Object.keys(place).length === 0 ? {} : { place };
};

/** What the call was shown. */
const messagesOf = async (home: AssignTarget, history: string, row: CallRow) => {
  const position = await home.position(branchRefOf(history, row.branchId), `@s${row.position}`);
  const { tree, payloads, thread } = await home.view(position);
  return toOpenAIMessages(tree, payloads, thread);
};

const bodyAt = async (
  projection: Projection,
  history: string,
  location: CallRow['location'],
  body: CallRow['request'],
): Promise<CallFacts['request']> => {
  if (body === null) return null;
  if (!isBodyKept(body)) return { sha256: toHex(body.sha256), size: body.size };
  return readBodyAt(location, projection.payloads.framesOf(history));
};

const eventAt = async (
  projection: Projection,
  history: string,
  { location }: { readonly location: CallRow['location'] | null },
): Promise<HistoryEvent | undefined> =>
  location === null ? undefined : (await projection.payloads.events(history, location.seq))[location.index];

const payloadOf = (event: HistoryEvent | undefined, name: string): WideJson | null =>
  event?.type === 'CallStarted' || event?.type === 'CallFinished'
    ? ((event.payload[name] ?? null) as WideJson | null)
    : null;
