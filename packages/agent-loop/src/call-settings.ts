import type { WideJson, WideJsonObject } from '@stemma/canonical';
import { fail } from '@stemma/errors';
import { branchRefOf, type Position } from '@stemma/history-store';
import type { Home } from '@stemma/home';
import { openMind, parseMind, type Mind, type MindOptions } from '@stemma/minds';
import { fitRequest } from '@stemma/model-apis';
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
 * The mind that was named, or the one that was called before.
 *
 * @throws E_USAGE if neither is known, E_MIND_…
 */
export const mindFor = (
  spec: string | undefined,
  before: Pick<CallAttempt, 'api' | 'model'> | null,
  { allow, ...options }: MindsOptions,
): Mind => {
  const named = specFor(spec, before);
  allow?.(named);
  return openMind(named, options);
};

const specFor = (spec: string | undefined, before: Pick<CallAttempt, 'api' | 'model'> | null): string => {
  if (spec !== undefined) return spec;
  const provider = PROVIDERS[before?.api ?? 'other'];
  if (provider === undefined || before?.model == null)
    throw fail(
      'E_USAGE',
      'no call is recorded here whose model could be asked: name a mind, such as openai:MODEL or offline',
    );
  if (before.model === 'offline') return 'offline';
  const found = `${provider}:${before.model}`;
  parseMind(found);
  return found;
};

const PROVIDERS: Readonly<Record<CallAttempt['api'], string | undefined>> = {
  'openai.chat': 'openai',
  'openai.responses': 'openai.responses',
  'anthropic.messages': 'anthropic',
  other: undefined,
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
  const taken = Object.keys(set).find((name) => NOT_SET.includes(name));
  if (taken !== undefined)
    throw fail('E_USAGE', `${taken} is no parameter: name the model as a mind, and edit messages in a file`);
  const { stream = false, tools: givenTools, ...given } = set;
  if (typeof stream !== 'boolean') throw fail('E_USAGE', 'stream is true or false');
  if (givenTools !== undefined && givenTools !== null && !Array.isArray(givenTools))
    throw fail('E_USAGE', 'tools is a list');
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
