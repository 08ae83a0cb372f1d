import { branchRefOf, type BranchRef } from '@stemma/history-store';
import { readProviderCall } from '@stemma/model-apis';
import { withoutCodings } from './decoded.ts';
import type { ExchangeEnd, ExchangeScope, ExchangeStart } from './exchange.ts';
import { callScopeOf, headerOf, sentOf, type ExchangeTarget } from './record-exchange.ts';

/** A call of a provider's API that carries no messages, as it was on the wire. `end` null: nobody knows how it ended. */
export type ProviderExchange = Omit<ExchangeStart, 'request'> & {
  readonly request: Extract<ExchangeStart['request'], { readonly form: 'wire' }>;
  readonly end: ExchangeEnd | null;
};

type Facts = Parameters<ExchangeTarget['calls']['recordProviderCall']>[1];

/** The longest name of a model, and of an error, that is recorded. */
const [MAX_NAME, MAX_MESSAGE] = [512, 4_096];

/** What is recorded of a call without messages. */
export const readProviderExchange = async (exchange: ProviderExchange): Promise<Facts> => {
  const { id, by, scope, run: named, request, sentAt, end } = exchange;
  const response = end?.response?.form === 'wire' ? end.response : null;
  const asked = await bodyOf(request, false);
  const answered = response === null ? { bytes: null } : await bodyOf(response, true);
  const { model, usage, error } = readProviderCall(readable(asked), readable(answered));
  const isFailed = response !== null && response.httpStatus >= 400;
  const said = end?.error ?? (isFailed ? error : null);
  return {
    ...{ id, by, model: model?.toWellFormed().slice(0, MAX_NAME) ?? null, usage },
    run: named ?? (scope !== null && 'run' in scope ? scope.run : null),
    method: request.method,
    sent: sentOf({ request, sentAt: sentAt ?? end?.sentAt }),
    status: end?.status ?? 'unknown',
    httpStatus: response?.httpStatus ?? null,
    firstByteMs: end?.firstByteMs ?? null,
    durationMs: end?.durationMs ?? null,
    request: asked,
    response: answered,
    head: response && {
      contentType: headerOf(response.contentType),
      coding: headerOf(response.coding),
      retryAfter: headerOf(response.retryAfter),
    },
    error: said && {
      code: said.code?.toWellFormed().slice(0, MAX_NAME) ?? null,
      message: said.message.toWellFormed().slice(0, MAX_MESSAGE),
    },
  };
};

type Wire = { readonly body: Facts['request']['bytes']; readonly coding: string | null };

const bodyOf = async ({ body, coding }: Wire, isCut: boolean): Promise<Facts['request']> =>
  body instanceof Uint8Array
    ? { bytes: body, plain: await withoutCodings(body, coding, isCut) }
    : { bytes: body };

const readable = ({ bytes, plain }: Facts['request']): Uint8Array | null =>
  plain ?? (bytes instanceof Uint8Array ? bytes : null);

/**
 * Records a call without messages in the history of its run: that of the run's first call with messages, if one is recorded; else in
 * the history or branch that is named; else in one that the calls of the run share which find neither. A repeat has no second effect.
 *
 * @throws as `submit`
 */
export const recordProviderExchange = async (
  home: ExchangeTarget,
  scope: ExchangeScope,
  facts: Facts,
): Promise<{ readonly branch: BranchRef; readonly warning: string | null }> => {
  const { id, by, run } = facts;
  const found = await home.calls.placeOfProviderCall(id, run);
  if (found !== undefined)
    return { branch: await home.calls.recordProviderCall(found, facts), warning: null };
  const name = scope !== null && 'name' in scope ? scope.name : sharedName(run);
  const { within, warning } = await callScopeOf(home, { name }, by);
  const branch =
    within !== undefined && 'branch' in within ? within.branch : branchRefOf(historyIn(within), 0);
  return { branch: await home.calls.recordProviderCall(branch, facts), warning };
};

const historyIn = (within: Awaited<ReturnType<typeof callScopeOf>>['within']): string => {
  if (within !== undefined && 'history' in within) return within.history;
  throw new Error('a name stands for a history or a branch');
};

/** The name of the history of calls without messages that find no other. */
const sharedName = (run: string | null): string => (run === null ? 'provider-calls' : `run-${run}`);
