import { canonicalJson, type WideJson } from '@stemma/canonical';
import { fail, isStemmaError, type StemmaError } from '@stemma/errors';
import { isBodyKept } from '@stemma/events';
import { historyId } from '@stemma/history';
import { branchRefOf, type BranchRef } from '@stemma/history-store';
import type { Home } from '@stemma/home';
import { leadingSystem } from '@stemma/importers';
import { apiOf, chatMessageAt, readAnswer, readRequest } from '@stemma/model-apis';
import { defined } from '@stemma/values';
import { withoutCodings } from './decoded.ts';
import type { Exchange, ExchangeEnd, ExchangeScope, ExchangeStart } from './exchange.ts';

/** What recording needs of a home. */
export type ExchangeTarget = Pick<Home, 'find' | 'submit' | 'calls' | 'privacy'>;

type RecordedExchange = Awaited<ReturnType<Home['calls']['recordRequest']>> & {
  /** Why it is recorded elsewhere than it was asked; null: it is where it was asked. */
  readonly warning: string | null;
};
type RequestFacts = Parameters<Home['calls']['recordRequest']>[0]['facts'];
type Scope = Parameters<Home['calls']['recordRequest']>[0]['within'];

/** What is known of a request. */
export type ReadExchangeStart = Pick<
  RequestFacts,
  | 'api'
  | 'model'
  | 'parameters'
  | 'tools'
  | 'request'
  | 'plainRequest'
  | 'sent'
  | 'session'
  | 'run'
  | 'fidelity'
  | 'end'
> & {
  readonly messages: readonly WideJson[];
};

const NOTHING_SAID = { api: 'other', model: null, parameters: {}, tools: null, messages: [] } as const;

/** The longest name of a model that is recorded. */
const MAX_NAME = 512;

/** The longest path, and the longest value of a header, that are recorded. */
const [MAX_PATH, MAX_HEADER] = [2_048, 256];

export const headerOf = (value: string | null | undefined): string | null =>
  value?.toWellFormed().slice(0, MAX_HEADER) ?? null;

/** How a request went out, as far as it is known. */
export const sentOf = ({
  request,
  sentAt = null,
}: Pick<ExchangeStart, 'request' | 'sentAt'>): NonNullable<RequestFacts['sent']> => {
  const unknown = { at: sentAt, origin: null, path: null, contentType: null, coding: null };
  if (request.form === 'said') return unknown;
  const { origin = null, path, contentType, coding } = request;
  return {
    ...unknown,
    origin,
    path: path.toWellFormed().slice(0, MAX_PATH),
    contentType: headerOf(contentType),
    coding: headerOf(coding),
  };
};

/** What a request says, and how it went out. */
export const readExchangeStart = async (start: ExchangeStart): Promise<ReadExchangeStart> => ({
  ...(await readRequestOf(start)),
  sent: sentOf(start),
  ...(start.request.form === 'wire' && defined({ session: start.request.session })),
  ...defined({ run: start.run, fidelity: start.fidelity }),
});

/** What a request says. One that no reader understands is recorded all the same, without messages. */
const readRequestOf = async ({ request: given }: ExchangeStart): Promise<ReadExchangeStart> => {
  if (given.form === 'said') {
    const { form: _, ...said } = given;
    const messages = messagesOf(said.messages);
    if (messages === undefined) return { ...NOTHING_SAID, request: Buffer.from(canonicalJson(said)) };
    return { ...said, api: 'other', model: said.model?.slice(0, MAX_NAME) ?? null, messages, request: null };
  }
  const { method, path, coding, body } = given;
  // Its messages are not read, either.
  if (body === null || !(body instanceof Uint8Array) || !isBodyKept({ size: body.length }))
    return { ...NOTHING_SAID, request: body };
  const request = new Uint8Array(body);
  const api = apiOf(method, path);
  const plainRequest = await withoutCodings(request, coding);
  const read = readRequest(api, plainRequest ?? request, path);
  if (!read.ok) return { ...NOTHING_SAID, request, plainRequest };
  const { model, parameters, tools, messages } = read;
  const name = model?.slice(0, MAX_NAME) ?? null;
  return { api, model: name, parameters, tools, messages, request, plainRequest };
};

const messagesOf = (messages: readonly WideJson[]): readonly WideJson[] | undefined => {
  try {
    return messages.map((message, i) => chatMessageAt(message, `message ${i}`));
  } catch (error) {
    if (isStemmaError(error)) return undefined;
    throw error;
  }
};

/** The same for all requests that may be of one conversation: their scope, and how they begin. */
export const beginningOf = (scope: ExchangeScope, { messages }: ReadExchangeStart): string =>
  JSON.stringify([scope, messages.slice(0, leadingSystem(messages) + 1)]);

/**
 * Records a request where it belongs (calls §3). A named history that takes no call keeps none from being recorded: it is
 * recorded among the calls of a run of that name. An erasable one takes it with it: what may have to go is recorded in another
 * erasable history about the same subject, or nowhere. An erased one says that nothing of it may be kept.
 *
 * @param run calls what it is given, as often as it likes
 * @throws as `recordRequest`, E_HISTORY_ERASED, E_HISTORY_SEALED; E_CALL_NOT_ERASABLE if only a history that cannot be erased would take it
 */
export const startExchange = async (
  home: ExchangeTarget,
  start: ExchangeStart,
  read: ReadExchangeStart,
  run: <T>(act: () => Promise<T>) => Promise<T> = (act) => act(),
): Promise<RecordedExchange> => {
  try {
    return await run(() => recordStart(home, start, read));
  } catch (error) {
    // What refuses the end keeps the call from nothing else: the end is refused for itself.
    if (read.end !== undefined && isStemmaError(error) && !error.row.retriable) {
      const { end: _end, ...alone } = read;
      return startExchange(home, start, alone, run);
    }
    const { scope } = start;
    // It was read, and says what no event can hold.
    const isUnheard = isStemmaError(error) && isUnspeakable(error) && read.api !== 'other';
    const { request, plainRequest } = read;
    if (isUnheard && request !== null && !(await isNameRefused(home, scope, error)))
      return startExchange(
        home,
        start,
        {
          ...NOTHING_SAID,
          request,
          sent: read.sent ?? null,
          ...defined({ plainRequest, run: read.run, fidelity: read.fidelity }),
        },
        run,
      );
    if (!isStemmaError(error) || !refusesAll(error) || scope === null || !('name' in scope)) throw error;
    const erasable = await erasableNamed(home, scope.name);
    if (erasable !== undefined) return startBeside(home, start, read, { ...erasable, error, run });
    const placed = await run(() => recordStart(home, { ...start, scope: { run: scope.name } }, read));
    const warning = `${scope.name} takes no calls (${error.message}): they are recorded among those of the run ${scope.name}`;
    return { ...placed, warning };
  }
};

/** The erasable history that a client's name stands for, whatever state it is in, and about whom it is. */
const erasableNamed = async (
  home: ExchangeTarget,
  name: string,
): Promise<{ readonly history: string; readonly subject: string | null } | undefined> => {
  const colon = name.lastIndexOf(':');
  for (const each of colon > 0 ? [name, name.slice(0, colon)] : [name]) {
    const history = await home.find(each).then(
      (found) => found.history,
      (error: unknown) => (isStemmaError(error) ? error.detail['history'] : undefined),
    );
    const erasable = typeof history === 'string' ? await home.privacy.erasableAs(history) : undefined;
    if (erasable !== undefined) return { history: history as string, ...erasable };
  }
  return undefined;
};

type Refusal = {
  readonly history: string;
  readonly subject: string | null;
  /** Why the history does not take it. */
  readonly error: StemmaError;
  readonly run: <T>(act: () => Promise<T>) => Promise<T>;
};

/**
 * Records a call that an erasable history does not take in another one about the same subject, which `erase --subject` finds with it.
 *
 * @throws E_CALL_NOT_ERASABLE where there is no subject, or where that one does not take it, either
 */
const startBeside = async (
  home: ExchangeTarget,
  { id, by, scope }: ExchangeStart,
  { messages, ...facts }: ReadExchangeStart,
  { history, subject, error, run }: Refusal,
): Promise<RecordedExchange> => {
  const name = scope !== null && 'name' in scope ? scope.name : history;
  const because = `${name} does not take the call (${error.message}, ${error.code})`;
  if (subject === null) throw notErasable(because, history);
  const within = { beside: history, erasable: { subject } };
  try {
    const placed = await run(() => home.calls.recordRequest({ id, by, messages, facts, within }));
    return {
      ...placed,
      warning: `${because}: such calls are recorded in ${placed.branch.history}, which is erasable and about the same subject`,
    };
  } catch (refused) {
    if (!isStemmaError(refused) || refused.row.retriable) throw refused;
    throw notErasable(because, history);
  }
};

const notErasable = (because: string, history: string): StemmaError =>
  fail(
    'E_CALL_NOT_ERASABLE',
    `${because}, and it is recorded nowhere else: ${history} can be erased, and a history that cannot must not hold it`,
    { history },
  );

/** True if no history has the name, and none can be started with it, as it looks like a secret. */
const isNameRefused = async (
  home: ExchangeTarget,
  scope: ExchangeScope,
  error: StemmaError,
): Promise<boolean> => {
  if (scope === null || !('name' in scope) || error.code !== 'E_REDACTION_REFUSED') return false;
  return home.find(scope.name).then(
    () => false,
    () => true,
  );
};

/** True of what no event can hold: values that are none, and names that are secrets. */
const isUnspeakable = ({ code }: StemmaError): boolean =>
  code.startsWith('E_INPUT_') || code === 'E_REDACTION_REFUSED';

/** True if the history takes no call at all: no other try and no other words change it. */
const refusesAll = ({ code, row }: StemmaError): boolean =>
  !row.retriable &&
  !['E_HISTORY_ERASED', 'E_HISTORY_SEALED', 'E_CANCELLED', 'E_CONTENT_MISSING', 'E_CONTENT_DAMAGED'].includes(
    code,
  );

const recordStart = async (
  home: ExchangeTarget,
  { id, by, scope }: ExchangeStart,
  { messages, ...facts }: ReadExchangeStart,
): Promise<RecordedExchange> => {
  const { within, warning } = await callScopeOf(home, scope, by);
  const placed = await home.calls.recordRequest({
    ...{ id, by, messages, facts },
    ...defined({ within }),
  });
  return { ...placed, warning };
};

/**
 * The calls that the name of a history or branch stands for; the history is started if there is none. A branch that is not there
 * stands for its history, and that is said.
 */
export const callScopeOf = async (
  home: ExchangeTarget,
  asked: ExchangeScope,
  by: ExchangeStart['by'],
): Promise<{ readonly within: Scope; readonly warning: string | null }> => {
  if (asked === null || 'run' in asked) return { within: asked ?? undefined, warning: null };
  const { name } = asked;
  try {
    const branch = await home.find(name);
    const isMain = branch.branch === branch.history;
    const within = isMain && !name.includes(':') ? { history: branch.history } : { branch };
    return { within, warning: null };
  } catch (error) {
    const isLacking =
      isStemmaError(error, 'E_HISTORY_NOT_FOUND') || isStemmaError(error, 'E_BRANCH_NOT_FOUND');
    if (!isLacking) throw error;
    const colon = name.lastIndexOf(':');
    if (colon > 0) {
      const whole = name.slice(0, colon);
      const { within } = await callScopeOf(home, { name: whole }, by);
      const branch = JSON.stringify(name.slice(colon + 1));
      return {
        within,
        warning: `the history ${whole} has no branch ${branch}: the calls are recorded where their messages go on in ${whole}`,
      };
    }
    if (colon === 0) throw error;
    const history = historyId(name, '');
    const id = `start-${name}`;
    try {
      await home.submit({ id, history, branchId: 0, by, steps: [{ op: 'start', name }] });
    } catch (refused) {
      // Another recorder started it first.
      if (!isStemmaError(refused, 'E_HISTORY_EXISTS') && !isStemmaError(refused, 'E_COMMAND_REUSED'))
        throw refused;
    }
    return { within: { history }, warning: null };
  }
};

type Ended = { readonly request: Pick<WireLike, 'method' | 'path'> | null };
type WireLike = Extract<ExchangeStart['request'], { form: 'wire' }>;

/** What an end says, with what its response says. @param request null: nobody knows its bytes */
export const readExchangeEnd = async (
  request: Ended['request'],
  { status, sentAt, firstByteMs, durationMs, error, response }: ExchangeEnd,
): Promise<NonNullable<RequestFacts['end']>> => {
  const common = { sentAt: sentAt ?? null, firstByteMs, durationMs };
  if (response === null || response.form === 'said') {
    const said = response ?? { answer: null, finishReason: null, model: null, usage: null, answerId: null };
    const { answer, finishReason, model, usage, answerId = null } = said;
    const names = {
      finishReason: finishReason?.slice(0, MAX_NAME) ?? null,
      model: model?.slice(0, MAX_NAME) ?? null,
      ...(answerId !== null && { answerId: answerId.slice(0, MAX_NAME) }),
    };
    return { ...common, ...names, httpStatus: null, response: null, status, usage, error, answer };
  }
  const { httpStatus, contentType, retryAfter, coding, body } = response;
  const api = request === null ? 'other' : apiOf(request.method, request.path);
  const plainResponse = body instanceof Uint8Array ? await withoutCodings(body, coding, true) : null;
  const answer =
    body instanceof Uint8Array
      ? readAnswer(api, { status: httpStatus, contentType }, plainResponse ?? body)
      : undefined;
  const isWhole = answer?.complete === true && answer.error === null && httpStatus < 400;
  // Clients leave a stream at the event that ends it, before its connection has ended.
  const isLeft = status === 'cancelled' && isWhole;
  // An answer that says why it ended is whole, though what ends a stream may be missing.
  const isCut =
    status === 'answered' &&
    answer !== undefined &&
    (answer.error !== null || (!answer.complete && answer.finishReason === null));
  return {
    ...common,
    status: isLeft ? 'answered' : isCut ? (answer.pending ? 'unknown' : 'failed') : status,
    httpStatus,
    finishReason: answer?.finishReason?.slice(0, MAX_NAME) ?? null,
    model: answer?.model?.slice(0, MAX_NAME) ?? null,
    usage: answer?.usage ?? null,
    error: isLeft ? null : (error ?? answer?.error ?? (isCut && !answer.pending ? CUT : null)),
    answer: answer?.answer ?? null,
    ...(answer?.answer == null ? {} : { others: answer.others ?? [] }),
    ...(answer?.contextEdits !== undefined && { contextEdits: answer.contextEdits }),
    // Other APIs keep no answer that a request could name.
    ...(api === 'openai.responses' && answer?.id != null && { answerId: answer.id.slice(0, MAX_NAME) }),
    head: {
      contentType: headerOf(contentType),
      coding: headerOf(coding),
      retryAfter: headerOf(retryAfter),
    },
    response: body instanceof Uint8Array ? new Uint8Array(body) : body,
    plainResponse,
  };
};

/** What is said of an answer that is cut off, where nobody else says anything. */
const CUT = { code: 'E_INPUT_TRUNCATED', message: 'the answer ends before it says why' } as const;

/** Records how an exchange ended, in the branch where it began. @throws as `finishCall` */
export const endExchange = async (
  home: ExchangeTarget,
  { id, by }: Pick<ExchangeStart, 'id' | 'by'>,
  end: NonNullable<RequestFacts['end']>,
  { history, branchId }: Pick<BranchRef, 'history' | 'branchId'>,
): Promise<void> => {
  await home.calls.finishCall(branchRefOf(history, branchId), { ...end, by, attemptId: id });
};

/** What an exchange says. */
export type ReadExchange = {
  readonly start: ReadExchangeStart;
  /** Null: nobody knows how it ended. */
  readonly end: NonNullable<RequestFacts['end']> | null;
};

export const readExchange = async (exchange: Exchange): Promise<ReadExchange> => {
  const { request } = exchange;
  return {
    start: await readExchangeStart(exchange),
    end:
      exchange.end === null
        ? null
        : await readExchangeEnd(request.form === 'wire' ? request : null, exchange.end),
  };
};

/**
 * Records an exchange whole, in one command. What of it was recorded before has no second effect (calls §7.2).
 *
 * @throws as {@link startExchange} and {@link endExchange}
 */
export const recordExchange = async (
  home: ExchangeTarget,
  exchange: Exchange,
  given?: ReadExchange,
): Promise<RecordedExchange> => {
  const { start: read, end } = given ?? (await readExchange(exchange));
  if (end === null) return startExchange(home, exchange, read);
  const placed = await startExchange(home, exchange, { ...read, end });
  if (!placed.isEnded) await endExchange(home, exchange, end, placed.branch);
  return placed;
};
