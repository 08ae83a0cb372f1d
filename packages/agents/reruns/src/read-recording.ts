import { parseWideJson, type WideJson, type WideJsonObject } from '@stemma/canonical';
import { fail, isStemmaError } from '@stemma/errors';
import { decoded } from '@stemma/exchanges';
import type { Home } from '@stemma/home';
import type { CallAttempt, ProviderCall } from '@stemma/queries';
import type {
  AttemptOutcome,
  RecordedAttempt,
  RecordedConversation,
  RecordedCycle,
  Recording,
} from '@stemma/rerun';
import type { ChosenRun, RecordedRunBranch } from './choose-run.ts';

/** A recorded run as it is served, and where each of its calls and attempts is. */
export type ReadRun = {
  readonly run: string | null;
  readonly recording: Recording;
  /** Its calls without messages, in order of time. */
  readonly providerCalls: readonly ProviderCall[];
  /** By the ids of attempts. */
  readonly attempts: ReadonlyMap<string, RunAttempt>;
  /** By the labels of calls. */
  readonly calls: ReadonlyMap<string, RunCall>;
};

export type RunAttempt = CallAttempt & { readonly history: string };

/** Where a call is recorded, and the call before it in its conversation, if there is one. */
export type RunCall = {
  readonly history: string;
  readonly branchId: number;
  readonly seq: number;
  readonly before: RunCall | null;
};

type Reader = Pick<Home, 'calls'>;

/**
 * The calls of a run with what they asked, as plain values.
 *
 * @throws E_RERUN_NOT_SERVED if the request of a call is not kept, with the labels of all such calls
 */
export const readRecording = async (home: Reader, { run, branches }: ChosenRun): Promise<ReadRun> => {
  const attempts = new Map<string, RunAttempt>();
  const calls = new Map<string, RunCall>();
  const labels = labelsOf(branches);
  const unread: string[] = [];
  const conversations: RecordedConversation[] = [];
  for (const branch of branches) {
    const { history, branchId, name, from } = branch;
    const cycles: RecordedCycle[] = [];
    let before: RunCall | null = from === null ? null : (calls.get(labels.get(from.attemptId) ?? '') ?? null);
    for (const group of bySnapshot(branch.attempts)) {
      const [first] = group;
      if (first === undefined) continue;
      for (const attempt of group) attempts.set(attempt.attemptId, { ...attempt, history });
      const label = labels.get(first.attemptId) ?? first.label;
      const cycle = await cycleOf(home, history, label, group);
      if (cycle === undefined) unread.push(label);
      else cycles.push(cycle);
      before = { history, branchId: first.branchId, seq: first.seq, before };
      calls.set(label, before);
    }
    const id = name === '' ? `${history}:${branchId}` : name;
    const fromLabel = from === null ? null : (labels.get(from.attemptId) ?? null);
    conversations.push({ id, parent: parentOf(branch, branches, labels), from: fromLabel, cycles });
  }
  if (unread.length > 0)
    throw fail(
      'E_RERUN_NOT_SERVED',
      `what ${listOf(unread)} asked is not kept, so nothing says whether an agent asks the same again`,
      { calls: listOf(unread) },
    );
  const providerCalls = run === null ? [] : await home.calls.providerCallsOfRun(run);
  return { run, recording: { conversations: inOrder(conversations) }, providerCalls, attempts, calls };
};

/** A list of labels for people, of many the first ten. */
export const listOf = (labels: readonly string[]): string =>
  labels.length <= 10
    ? labels.join(', ')
    : `${labels.slice(0, 10).join(', ')} and ${labels.length - 10} others`;

const inOrder = (conversations: readonly RecordedConversation[]): readonly RecordedConversation[] =>
  conversations
    .filter(({ cycles }) => cycles.length > 0)
    .map((conversation, index) => ({ conversation, index, at: conversation.cycles[0]?.at ?? 0n }))
    .sort((a, b) => (a.at < b.at ? -1 : a.at > b.at ? 1 : a.index - b.index))
    .map(({ conversation }) => conversation);

/** What each attempt's call is called: the label of its snapshot, with the name of its branch before it. */
const labelsOf = (branches: readonly RecordedRunBranch[]): ReadonlyMap<string, string> =>
  new Map(
    branches.flatMap(({ name, attempts }) =>
      attempts.map(({ attemptId, label }) => [attemptId, name === '' ? label : `${name}${label}`] as const),
    ),
  );

/** Attempts with one position are attempts of one call, unless they are of several conversations. */
const bySnapshot = (attempts: readonly CallAttempt[]): readonly (readonly CallAttempt[])[] => {
  const groups = new Map<string, CallAttempt[]>();
  for (const attempt of attempts) {
    const key = `${attempt.branchId} ${attempt.seq}`;
    const group = groups.get(key);
    if (group === undefined) groups.set(key, [attempt]);
    else group.push(attempt);
  }
  return [...groups.values()];
};

/** The call that led to the conversation on a branch, if it is one of the run. */
const parentOf = (
  { history, branchId }: RecordedRunBranch,
  branches: readonly RecordedRunBranch[],
  labels: ReadonlyMap<string, string>,
): RecordedConversation['parent'] => {
  for (const { attempts } of branches)
    for (const { attemptId, ledTo } of attempts)
      if (ledTo.some((each) => each.history === history && each.branchId === branchId))
        return { call: labels.get(attemptId) ?? '', toolCall: null };
  return null;
};

const NANOSECONDS = 1_000_000n;

const cycleOf = async (
  home: Reader,
  history: string,
  label: string,
  group: readonly CallAttempt[],
): Promise<RecordedCycle | undefined> => {
  const [first] = group;
  if (first === undefined) return undefined;
  const request = await requestOf(home, history, first);
  if (request === undefined) return undefined;
  const attempts: RecordedAttempt[] = [];
  for (const attempt of group) attempts.push(await attemptOf(home, history, attempt));
  const usage = group.find(({ status }) => status === 'answered')?.usage ?? null;
  return {
    label,
    api: first.api,
    path: first.path,
    request,
    at: BigInt(first.at) * NANOSECONDS,
    attempts,
    tokens: usage === null ? null : (usage.input ?? 0) + (usage.output ?? 0),
  };
};

/** What a call asked, as it came from the agent; undefined: its bytes are not kept, or no JSON. */
const requestOf = async (
  home: Reader,
  history: string,
  { attemptId, requestHead }: CallAttempt,
): Promise<WideJson | undefined> => {
  try {
    const bytes = await home.calls.body(history, attemptId, 'came');
    const plain = await decoded(bytes, requestHead.coding);
    return parseWideJson(new TextDecoder('utf-8', { fatal: true }).decode(plain), 'the recorded request');
  } catch (error) {
    if (isStemmaError(error) || error instanceof TypeError) return undefined;
    throw error;
  }
};

const OUTCOMES: { readonly [status in CallAttempt['status']]: AttemptOutcome } = {
  answered: 'finished',
  failed: 'failed',
  cancelled: 'cancelled',
  'timed out': 'timed out',
  unknown: 'unknown',
};

/** True for the content type of a stream of events. */
const isStream = (contentType: string | null): boolean => contentType?.includes('event-stream') === true;

const attemptOf = async (home: Reader, history: string, attempt: CallAttempt): Promise<RecordedAttempt> => {
  const { attemptId, status, httpStatus, response, responseHead } = attempt;
  const { answer, answerId, notKept } = await home.calls.find(history, attemptId);
  return {
    id: attemptId,
    outcome: OUTCOMES[status],
    status: httpStatus,
    answer: answer as WideJsonObject | null,
    answerId,
    isStreamed: isStream(responseHead.contentType),
    bytes: notKept.includes('response')
      ? 'redacted'
      : response === null && httpStatus !== null
        ? 'gone'
        : 'kept',
  };
};
