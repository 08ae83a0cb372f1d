import type { WideJson, WideJsonObject } from '@stemma/canonical';
import { fail } from '@stemma/errors';
import { branchRefOf, type Position } from '@stemma/history-store';
import type { Home } from '@stemma/home';
import {
  mindTargetOf,
  openMind,
  parseMind,
  type Mind,
  type MindOptions,
  type MindTarget,
} from '@stemma/model-clients';
import {
  apiPathOf,
  fitRequest,
  isStreamInPath,
  messageFieldsOf,
  mindOf,
  toolFieldOf,
} from '@stemma/model-apis';
import type { CallAttempt, WholeCallAttempt } from '@stemma/queries';

/** What a request says besides its messages. */
export type CallSettings = {
  readonly parameters: WideJsonObject;
  readonly tools: readonly WideJson[];
  readonly stream: boolean;
  /** What the recorded call had and the mind's API has nothing like. */
  readonly dropped: readonly string[];
};

/** How minds are opened. */
export type MindsOptions = MindOptions & {
  /** Throws for a mind that may not be asked here. */
  readonly allow?: (spec: string) => void;
};

const PAGE = 1_000;

/** The newest call with a position or one before it; null: none is recorded there. */
export const newestCallBefore = async (
  home: Pick<Home, 'calls'>,
  { history, branchId, seq }: Position,
): Promise<WholeCallAttempt | null> => {
  let newest: CallAttempt | undefined;
  for (let from: number | null = 0; from !== null;) {
    const page = await home.calls.list(branchRefOf(history, branchId), { from, limit: PAGE });
    for (const attempt of page.attempts) {
      if (attempt.api === 'other' || (attempt.branchId === branchId && attempt.seq > seq)) continue;
      if (attempt.seq >= (newest?.seq ?? 0)) newest = attempt;
    }
    from = page.next;
  }
  return newest === undefined ? null : home.calls.find(history, newest.attemptId);
};

/**
 * The mind that was named, or the one that was called before, at the host that was called: what was recorded goes to another one
 * only if somebody says which (calls §6.8).
 *
 * @throws E_USAGE if neither is known, E_MIND_ELSEWHERE, E_MIND_…
 */
export const mindFor = (
  spec: string | undefined,
  before: Pick<CallAttempt, 'api' | 'model' | 'origin' | 'path'> | null,
  { allow, ...options }: MindsOptions,
): Mind => {
  const named = specFor(spec, before);
  allow?.(named);
  // Who may not send it there is not asked for a key first.
  refuseElsewhere(named, mindTargetOf(named, options), spec !== undefined, before);
  return openMind(named, options);
};

/** Refuses a host that nobody named and that the call before did not go to. @throws E_MIND_ELSEWHERE */
const refuseElsewhere = (
  spec: string,
  target: MindTarget | null,
  isNamed: boolean,
  before: Pick<CallAttempt, 'api' | 'origin' | 'path'> | null,
): void => {
  if (target === null || target.isNamed) return;
  const recorded = before?.origin ?? null;
  if (recorded === target.origin) return;
  // Who names a model of another provider, or one where no host is recorded, says where to go.
  const isOfProvider = before !== null && providerOf(before.api) === providerOf(spec);
  if (isNamed && (recorded === null || !isOfProvider)) return;
  const choices = [
    ...(recorded === null ? [] : [`${spec}@${recorded}${apiPathOf(before?.path ?? '')}`]),
    `${spec}@${target.origin}${apiPathOf(target.path)}`,
  ];
  throw fail(
    'E_MIND_ELSEWHERE',
    recorded === null
      ? `it is not recorded where the call went, and the next one would go to ${target.origin}: name the mind as ${choices.join('')}`
      : `the call went to ${recorded}, and the next one would go to ${target.origin}: name the mind as ${choices.join(' or ')}`,
    { recorded, target: target.origin },
  );
};

/** The provider that an API or a mind's name begins with. */
const providerOf = (name: string): string => name.split(/[.:]/, 1)[0] ?? '';

const specFor = (spec: string | undefined, before: Pick<CallAttempt, 'api' | 'model'> | null): string => {
  if (spec !== undefined) return spec;
  const provider = mindOf(before?.api ?? 'other');
  if (provider === null || before?.model == null)
    throw fail(
      'E_USAGE',
      'no call is recorded here whose model could be asked: name a mind, such as openai:MODEL or offline',
    );
  if (before.model === 'offline') return 'offline';
  const found = `${provider}:${before.model}`;
  parseMind(found);
  return found;
};

/** They are no parameters: the messages, the model and the tools of a request come from elsewhere. */
const NOT_SET: readonly string[] = ['model', 'messages', 'input', 'instructions', 'system'];

/**
 * The parameters and tools of a call before, for the mind's API, with some of them set; null takes one away.
 *
 * @throws E_USAGE for a field that is no parameter
 */
export const settingsFor = (
  { api }: Pick<Mind, 'api'>,
  before: Pick<WholeCallAttempt, 'api' | 'parameters' | 'tools'> | null,
  set: WideJsonObject,
): CallSettings => {
  const fields = [...NOT_SET, ...messageFieldsOf(api)];
  const taken = Object.keys(set).find((name) => fields.includes(name));
  if (taken !== undefined)
    throw fail('E_USAGE', `${taken} is no parameter: name the model as a mind, and edit messages in a file`);
  const { stream = false, tools: givenTools, ...given } = set;
  if (typeof stream !== 'boolean') throw fail('E_USAGE', 'stream is true or false');
  if (stream && isStreamInPath(api))
    throw fail('E_USAGE', `a mind of ${api} is asked for a whole answer: leave out stream=true`);
  if (givenTools !== undefined && givenTools !== null && !Array.isArray(givenTools))
    throw fail('E_USAGE', 'tools is a list');
  const field = toolFieldOf(api);
  if (givenTools !== undefined && field !== 'tools')
    throw fail('E_USAGE', `requests of ${api} hold their tools in ${field}: set that`);
  const recorded = {
    parameters: (before?.parameters ?? {}) as WideJsonObject,
    tools: before?.tools ?? [],
  };
  const fitted = fitRequest(before?.api ?? api, api, recorded);
  const parameters = Object.fromEntries(
    Object.entries({ ...fitted.parameters, ...given }).filter(([, value]) => value !== null),
  );
  const tools = givenTools === undefined ? fitted.tools : ((givenTools ?? []) as readonly WideJson[]);
  return { parameters, tools, stream, dropped: fitted.dropped };
};
