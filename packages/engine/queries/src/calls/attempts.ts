import { notKept, readBodyAt } from '@stemma/call-bodies';
import { toHex, type WideJson } from '@stemma/canonical';
import type { EventRef } from '@stemma/context-tree';
import { fail } from '@stemma/errors';
import {
  isBodyKept,
  type BranchPosition,
  type CallAddress,
  type CallApi,
  type CallFidelity,
  type CallMatch,
  type CallStatus,
  type CallUsage,
  type HistoryEvent,
  type SteeringKind,
} from '@stemma/events';
import { NOT_KEPT } from '@stemma/history';
import { findSnapshot, type BranchRef, type Position } from '@stemma/history-store';
import { priceOf, type CallPrice, type PriceTable, type RequestChange } from '@stemma/model-apis';
import type { Projection } from '@stemma/projector';
import type { RowReader } from '@stemma/row-store';
import { callsOnBranch, countByBranch } from './calls-of-branches.ts';
import { notShownReason, type ViewReader } from './not-shown.ts';
import type { Prices } from './prices.ts';
import { walkShown, type ShownStep } from '../threads/shown-steps.ts';
import { diffRequests } from './request-facts.ts';
import {
  findCallRow,
  countCallsOfRun,
  historiesOfRun,
  type LinkedBranch,
  listCallsAt,
  listHistories,
  listLedTo,
  type CallRow,
  findSteeredCall,
  type SteeredCallRow,
} from '@stemma/read-models';
import { millisecondsOf } from '@stemma/values';

/** An attempt to call a model. */
export type CallAttempt = {
  readonly attemptId: string;
  /** The position that it was called with: `@c7` if it is a snapshot, else `@s57`. */
  readonly label: string;
  readonly branchId: number;
  readonly seq: number;
  readonly cycle: number;
  /** The frame that recorded its start. */
  readonly frame: number;
  /** Milliseconds since 1970: when its request went out; when it was recorded, if nobody saw that. */
  readonly at: number;
  readonly api: CallApi;
  /** The model that was asked for; that of the answer, if the request names none. */
  readonly model: string | null;
  /** How a recorder found the branch, among the calls of `scope`; null: nobody looked for it. */
  readonly scope: string | null;
  readonly match: CallMatch | null;
  /** The run of a program that made it; null: not known. */
  readonly run: string | null;
  /** `unknown` also while nobody has recorded an end. */
  readonly status: CallStatus;
  readonly httpStatus: number | null;
  /** Scheme, host and port that it went to, and the path without its query; null: not known. */
  readonly origin: string | null;
  readonly path: string | null;
  /** What the heads of request and response say of their bodies, and how long to wait before another try. */
  readonly requestHead: BodyHead;
  readonly responseHead: BodyHead;
  readonly retryAfter: string | null;
  /** How many choices the answer has; null: not known. */
  readonly choices: number | null;
  /** SHA-256 in hex and bytes of the bodies on the wire; null: they are not recorded. */
  readonly request: { readonly sha256: string; readonly size: number } | null;
  readonly response: { readonly sha256: string; readonly size: number } | null;
  readonly usage: CallUsage | null;
  /** By the price table of the home; null: it does not say. */
  readonly cost: CallPrice | null;
  readonly firstByteMs: number | null;
  readonly durationMs: number | null;
  readonly finishReason: string | null;
  readonly error: { readonly code: string | null; readonly message: string } | null;
  /** How true its picture is, where a file told of it, and what the file lacks; null: its recorder was there. */
  readonly fidelity: CallFidelity | null;
  /** The attempt that it was before somebody assigned it here; null: nobody did. */
  readonly assignedFrom: { readonly history: string; readonly attemptId: string } | null;
  /** The attempt that it is elsewhere, since somebody assigned it there: it counts no more here. */
  readonly reassignedTo: CallAddress | null;
  /** The branches whose conversations it led to, as a recorder guessed or somebody said. */
  readonly ledTo: readonly LinkedBranch[];
};

/** What a head says of a body; null: nothing, or nobody saw it. */
export type BodyHead = { readonly contentType: string | null; readonly coding: string | null };

/** An attempt with what only its events hold. */
export type WholeCallAttempt = CallAttempt & {
  readonly parameters: WideJson;
  readonly tools: readonly WideJson[];
  readonly answer: WideJson | null;
  /** The name that its provider gave the answer, by which later requests go on from it; null: none, or it is not recorded. */
  readonly answerId: string | null;
  /** The messages of the other choices of the answer. */
  readonly otherAnswers: readonly WideJson[];
  /** Why the thread is not all that the model was shown; null: it is. */
  readonly notShown: string | null;
  /** The bodies that are not kept, as nobody could surely take secrets out of their bytes. */
  readonly notKept: readonly CallBody[];
  /** What observers changed in the request before it went out; null: nothing, and nobody steered it. */
  readonly steered: SteeredRequest | null;
};

/** An attempt with what was asked beside the messages, and what came back. */
export type SaidAttempt = CallAttempt &
  Pick<WholeCallAttempt, 'parameters' | 'answer'> & {
    /** Null: not known. */
    readonly tools: readonly WideJson[] | null;
    /** Milliseconds since 1970 when the request went out; null: nobody saw that. */
    readonly sentAt: number | null;
  };

/** What a branch shows at a position, and the attempts to call a model with it, the first one first. */
export type ShownCalls = ShownStep & { readonly attempts: readonly SaidAttempt[] };

/** What observers changed in a request: `seq` is the frame of the intervention. */
export type SteeredRequest = {
  /** The body as it came; null: it went as it came, or is not recorded. */
  readonly request: { readonly sha256: string; readonly size: number } | null;
  readonly changes: readonly { readonly what: SteeringKind; readonly node: string; readonly seq: number }[];
  /** Why it went as it came, although its branch is steered. */
  readonly unsteered: string | null;
};

/** The bodies of an attempt: the request as it went out and as it came, and the response. */
export type CallBody = (typeof BODIES)[number];

const BODIES = ['request', 'came', 'response'] as const;

export type CallAttemptsPage = {
  readonly attempts: readonly CallAttempt[];
  /** The `from` of the next page; null: there is none. */
  readonly next: number | null;
};

/** What was asked of models, and what came back. */
export type CallAttempts = {
  /** The attempts on a branch's ancestor path, in the order they were recorded. */
  list(
    branch: BranchRef,
    page?: { readonly from?: number; readonly limit?: number },
  ): Promise<CallAttemptsPage>;
  /** How many attempts were made on each branch of a history that has some, the newest branch last. */
  counts(history: string): Promise<readonly { readonly branchId: number; readonly calls: number }[]>;
  /** The histories that have calls of a run. */
  historiesOfRun(run: string): Promise<readonly string[]>;
  /**
   * What differs between the requests of the newest calls with two positions of a history, besides their messages: tools and
   * parameters; undefined if no call is recorded with one of them.
   */
  changes(a: Position, b: Position): Promise<readonly RequestChange[] | undefined>;
  /** Those with what a position shows, the first one first. */
  at(position: Position): Promise<readonly CallAttempt[]>;
  /**
   * The messages of every snapshot on a branch's ancestor path, oldest first, and of its tip, each with the attempts to call a model
   * with it.
   */
  shown(branch: BranchRef): AsyncIterable<ShownCalls>;
  /** @throws E_CALL_NOT_FOUND */
  find(history: string, attemptId: string): Promise<WholeCallAttempt>;
  /** The history that has an attempt. @throws E_CALL_NOT_FOUND */
  locate(attemptId: string): Promise<string>;
  /** The bytes of a body on the wire. @throws E_CALL_NOT_FOUND, E_CALL_BODY_NOT_KEPT, E_CALL_BODY_DAMAGED */
  body(history: string, attemptId: string, which: CallBody): Promise<Uint8Array>;
};

export const openCallAttempts = (
  projection: Projection,
  catchUp: (history: string) => Promise<void>,
  prices: Prices,
  view: ViewReader,
): CallAttempts => {
  const rowOf = async (history: string, attemptId: string): Promise<CallRow> => {
    await catchUp(history);
    const row = await projection.read((rows) => findCallRow(rows, history, attemptId));
    if (row !== undefined) return row;
    throw fail('E_CALL_NOT_FOUND', `the history has no call ${attemptId.slice(0, 200)}`, {
      attempt: attemptId,
    });
  };
  const { saidIn, withheldOf } = openAttemptEvents(projection);
  return {
    async list(branch, { from = 0, limit = 1_000 } = {}) {
      const { history } = branch;
      await catchUp(history);
      const table = await prices();
      return projection.read((rows) => {
        const { calls, next } = callsOnBranch(rows, branch, from, limit);
        return { attempts: calls.map((row) => attemptOf(rows, history, row, table)), next };
      });
    },
    async counts(history) {
      await catchUp(history);
      return projection.read((rows) => countByBranch(rows, history));
    },
    async historiesOfRun(run) {
      await projection.catchUp();
      return projection.read((rows) =>
        historiesOfRun(rows, run).filter((history) => countCallsOfRun(rows, history, run) > 0),
      );
    },
    async changes(a, b) {
      await catchUp(a.history);
      return diffRequests(projection, a.history, a.seq, b.seq);
    },
    async at({ history, branchId, seq }) {
      await catchUp(history);
      const table = await prices();
      return projection.read((rows) =>
        listCallsAt(rows, history, { branchId, seq }).map((row) => attemptOf(rows, history, row, table)),
      );
    },
    async *shown(branch) {
      const { history } = branch;
      const saidAt = async (position: BranchPosition): Promise<readonly SaidAttempt[]> => {
        const table = await prices();
        const said: SaidAttempt[] = [];
        for (const row of await projection.read((rows) => listCallsAt(rows, history, position))) {
          const { started, parameters, tools, answer } = await saidIn(history, row);
          const sentAt = started?.type === 'CallStarted' ? (started.sent?.at ?? null) : null;
          const attempt = await projection.read((rows) => attemptOf(rows, history, row, table));
          said.push({ ...attempt, parameters, tools: row.toolsAt === null ? null : tools, answer, sentAt });
        }
        return said;
      };
      let newest = -1;
      for await (const step of walkShown(projection, view, branch)) {
        const { cycle, branchId, seq } = step;
        // The tip may be the newest snapshot.
        const attempts = cycle === null && seq === newest ? [] : await saidAt({ branchId, seq });
        newest = seq;
        yield { ...step, attempts };
      }
    },
    async find(history, attemptId) {
      const row = await rowOf(history, attemptId);
      const table = await prices();
      const { started, finished, parameters, tools, answer } = await saidIn(history, row);
      return {
        ...(await projection.read((rows) => attemptOf(rows, history, row, table))),
        parameters,
        notShown: await notShownReason({ projection, view }, history, row, {
          ...{ parameters, answer, place: payload(started, 'data_place') },
          edits: payload(finished, 'data_context_edits'),
        }),
        tools,
        answer,
        answerId: payload(finished, 'data_answer_id') as string | null,
        otherAnswers: (payload(finished, 'data_choices') ?? []) as readonly WideJson[],
        notKept: await withheldOf(history, row),
        steered: await projection.read((rows) => steeredOf(findSteeredCall(rows, history, attemptId))),
      };
    },
    locate: (attemptId) => locateCall(projection, attemptId),
    async body(history, attemptId, which) {
      const row = await rowOf(history, attemptId);
      const steered = await projection.read((rows) => findSteeredCall(rows, history, attemptId));
      const { location, body: known } = bodyAt(row, steered, which);
      if (location === undefined || known === null)
        throw fail(
          'E_CALL_BODY_NOT_KEPT',
          which === 'response' && row.finished === null
            ? `nobody knows the end of ${attemptId.slice(0, 200)}, and no response of it is recorded`
            : (await withheldOf(history, row)).includes(which)
              ? `the ${which} of ${attemptId.slice(0, 200)} is not kept: nobody could surely take secrets out of its bytes`
              : `the bytes of the ${which} of ${attemptId.slice(0, 200)} are not recorded: there were none, or whoever recorded the call did not have them`,
          { attempt: attemptId },
        );
      if (!isBodyKept(known)) throw notKept({ sha256: toHex(known.sha256), size: known.size });
      return readBodyAt(location, projection.payloads.framesOf(history));
    },
  };
};

/** What the events of attempts hold, and the rows do not. */
const openAttemptEvents = (projection: Projection) => {
  const eventsOf = (history: string) => (seq: number) => projection.payloads.events(history, seq);
  const eventAt = async (
    history: string,
    location: EventRef | undefined | null,
  ): Promise<HistoryEvent | undefined> =>
    location === undefined || location === null
      ? undefined
      : (await eventsOf(history)(location.seq))[location.index];
  /** What the events of an attempt hold of what was asked and answered. */
  const saidIn = async (history: string, row: CallRow) => {
    const started = await eventAt(history, row.location);
    const finished = await eventAt(history, row.finished?.location);
    const tools = payload(await eventAt(history, row.toolsAt), 'data_tools') ?? [];
    return {
      started,
      finished,
      parameters: payload(started, 'data_parameters') ?? {},
      tools: tools as readonly WideJson[],
      answer: payload(finished, 'data_answer'),
    };
  };
  /** The bodies that their frames say are not kept, as nobody could surely take secrets out of them. */
  const withheldOf = async (history: string, row: CallRow): Promise<readonly CallBody[]> => {
    const seqs = new Set([row.location.seq, ...(row.finished === null ? [] : [row.finished.location.seq])]);
    const events = (await Promise.all([...seqs].map(eventsOf(history)))).flat();
    const fields = events.flatMap((event) =>
      event.type === 'ContentRedacted'
        ? event.redactions.filter(({ rule }) => rule === NOT_KEPT).map(({ field }) => field)
        : [],
    );
    return BODIES.filter((which) => fields.includes(which));
  };
  return { saidIn, withheldOf };
};

const payload = (event: HistoryEvent | undefined, name: string): WideJson | null =>
  event?.type === 'CallStarted' || event?.type === 'CallFinished'
    ? ((event.payload[name] ?? null) as WideJson | null)
    : null;

/** The history that has an attempt. @throws E_CALL_NOT_FOUND */
const locateCall = async (projection: Projection, attemptId: string): Promise<string> => {
  await projection.catchUp();
  const found = await projection.read((rows) =>
    listHistories(rows).find(({ history }) => findCallRow(rows, history, attemptId) !== undefined),
  );
  if (found !== undefined) return found.history;
  throw fail('E_CALL_NOT_FOUND', `no history has a call ${attemptId.slice(0, 200)}`, {
    attempt: attemptId,
  });
};

/** The event that has a body, and its hash and size. A request that nobody changed went out as it came. */
const bodyAt = (
  row: CallRow,
  steered: SteeredCallRow | undefined,
  which: CallBody,
): { readonly location: EventRef | undefined; readonly body: CallRow['request'] } => {
  if (which === 'response') return { location: row.finished?.location, body: row.finished?.response ?? null };
  if (which === 'came' && steered?.request != null)
    return { location: steered.location, body: steered.request };
  return { location: row.location, body: row.request };
};

const steeredOf = (row: SteeredCallRow | undefined): SteeredRequest | null =>
  row === undefined ? null : { request: hexOf(row.request), changes: row.changes, unsteered: row.unsteered };

/** An attempt from its row, with what it costs. */
export const attemptOf = (
  rows: RowReader,
  history: string,
  row: CallRow,
  prices: PriceTable | null,
): CallAttempt => {
  const { attemptId, branchId, position, cycle, at, api, model, scope, match, request, finished } = row;
  const isSnapshot = findSnapshot(rows, history, branchId, position, cycle)?.seq === position;
  return {
    attemptId,
    label: isSnapshot ? `@c${cycle}` : `@s${position}`,
    branchId,
    seq: position,
    cycle,
    frame: row.location.seq,
    at: millisecondsOf(at),
    api,
    model: model ?? finished?.model ?? null,
    scope,
    match,
    run: row.run,
    status: finished?.status ?? 'unknown',
    httpStatus: finished?.httpStatus ?? null,
    origin: row.origin,
    path: row.path,
    requestHead: { contentType: row.contentType, coding: row.coding },
    responseHead: { contentType: finished?.contentType ?? null, coding: finished?.coding ?? null },
    retryAfter: finished?.retryAfter ?? null,
    choices: finished?.choices ?? null,
    request: hexOf(request),
    response: hexOf(finished?.response ?? null),
    usage: finished?.usage ?? null,
    cost: prices === null ? null : costOf(prices, row),
    firstByteMs: finished?.firstByteMs ?? null,
    durationMs: finished?.durationMs ?? null,
    finishReason: finished?.finishReason ?? null,
    error: finished?.error ?? null,
    fidelity: row.fidelity,
    assignedFrom: row.assignedFrom,
    reassignedTo: row.reassignedTo,
    ledTo: listLedTo(rows, attemptId),
  };
};

/** By the price of the model that answered, or of the one that was asked for. */
const costOf = (prices: PriceTable, { model, finished }: CallRow): CallPrice | null => {
  const usage = finished?.usage ?? null;
  return priceOf(prices, finished?.model ?? null, usage) ?? priceOf(prices, model, usage);
};

const hexOf = (body: CallRow['request']): CallAttempt['request'] =>
  body === null ? null : { sha256: toHex(body.sha256), size: body.size };
