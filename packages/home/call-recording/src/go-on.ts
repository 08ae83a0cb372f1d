import type { Outcome } from '@stemma/command-handler';
import { bytesOf } from '@stemma/machine';
import { compareBytes, type WideJson } from '@stemma/canonical';
import { isStemmaError } from '@stemma/errors';
import type { CallMatch, CallOrigin, Erasable } from '@stemma/events';
import type { Step } from '@stemma/history';
import { branchRefOf, type BranchRef } from '@stemma/history-store';
import { appendSteps, callSteps, leadingSystem } from '@stemma/importers';
import type { Projection } from '@stemma/projector';
import { callsWithPrompt, findCallRow, NO_SESSION } from '@stemma/read-models';
import type { RowReader } from '@stemma/row-store';
import { defined } from '@stemma/values';

import type { Conversation, Conversations } from './conversations.ts';

import { promptOf, type PromptHashes } from './prompt-hash.ts';
import type { CallTarget } from './record-call.ts';
import type { PlacedCall, UnplacedCall } from './record-request-types.ts';
import type { CallStarter, LastCall } from './start-call.ts';

/** A call whose list of messages has its hashes. */
export type HashedCall = {
  readonly call: UnplacedCall;
  readonly messages: readonly WideJson[];
  readonly scope: string;
  /** A hash of the session that its client named; undefined: it named none, or its messages say more. */
  readonly session: string | undefined;
  readonly hashes: PromptHashes;
  /** What conversations are remembered by. */
  readonly beginning: string;
  /** What {@link Conversations.others} was before anything was read for it. */
  readonly others: number;
};

/** A history that is to be started. */
type NewHistory = {
  readonly history: string;
  readonly name: string | null;
  readonly erasable: Erasable | undefined;
};

/** Records calls of which all is known that `recordCall` reads: what it records is the same. */
export type QuickRecorder = {
  /** A call that goes on with the conversation that was recorded last; undefined: it does not, or may not. */
  goOn(hashed: HashedCall): Promise<PlacedCall | undefined>;
  /** A call that starts a history, in one frame. @throws E_HISTORY_EXISTS */
  first(hashed: HashedCall, to: NewHistory, origin: CallOrigin | null): Promise<PlacedCall>;
  /** Remembers a call that `recordCall` has recorded. */
  remember(hashed: HashedCall, outcome: Outcome): void;
};

export const openQuickRecorder = (
  home: Pick<CallTarget, 'submit'> & { catchUp(): Promise<void> },
  projection: Projection,
  starter: CallStarter,
  conversations: Conversations,
): QuickRecorder => {
  type Known = {
    readonly branch: BranchRef;
    /** Null: the history is to be started, with the name. */
    readonly tip: number | null;
    /** The number of the next frame of the history, if no other process has written one. */
    readonly next?: number;
    readonly name?: string | null;
    readonly erasable?: Erasable | undefined;
    readonly last: LastCall | null;
    readonly match: CallMatch;
    /** The messages of the list that the branch shows. */
    readonly shown: number;
    readonly origin: CallOrigin | null;
  };

  const submit = async (
    hashed: HashedCall,
    steps: readonly Step[],
    { branch, name = null, erasable, tip, next, last, match, shown, origin }: Known,
  ): Promise<PlacedCall> => {
    const { call, messages, scope, hashes } = hashed;
    const { history, branchId } = branch;
    const found = { scope, match };
    const brought = [...messages.keys()].slice(shown);
    const prompt = { ...found, origin, ...promptOf(hashes, brought) };
    const step = await starter.step(branch, { ...call.facts, found, hashes }, steps, prompt, last);
    const outcome = await home.submit({
      ...{ id: call.id, history, branchId, by: call.by },
      ...defined({ expected: tip ?? undefined, next }),
      steps: [
        ...(tip === null ? [{ op: 'start', name, ...(erasable && { erasable }) } as const] : []),
        ...steps,
        { op: 'commit' },
        step,
        ...starter.end(call.id, call.facts),
      ],
      redactions: [],
    });
    remember(hashed, outcome);
    return {
      ...{ branch: branchRefOf(history, branchId), match, isEnded: call.facts.end !== undefined },
      ...(outcome.repeated && { before: true as const }),
    };
  };
  const remember = ({ call, messages, hashes, beginning, others }: HashedCall, outcome: Outcome): void => {
    const { history, branchId, events, seq, repeated } = outcome;
    const branch = branchRefOf(history, branchId);
    const last = repeated ? undefined : starter.recorded(branch, events, seq, call.facts);
    if (last === undefined) {
      conversations.forget(beginning, branch);
      return;
    }
    const { request, tools } = call.facts;
    // A parsed body takes about as much memory as its bytes, in characters of one or two bytes.
    const parsed =
      request instanceof Uint8Array ? 2 * request.length : bytesOf(messages) + bytesOf(tools ?? []);
    const bytes = parsed + BYTES_OF_HASHES * messages.length;
    const conversation = { given: [...messages], hashes, branch, others };
    conversations.recorded(beginning, conversation, { last, tip: seq }, bytes);
  };
  const tryToGoOn = async (hashed: HashedCall, before: Conversation): Promise<PlacedCall | undefined> => {
    const { call, messages, hashes, beginning, session } = hashed;
    const shown = before.given.length;
    // An end that is being recorded would come between.
    await conversations.settled(before.branch);
    const newest = conversations.continuation(beginning, before.branch);
    if (newest === undefined) return undefined;
    if (before.others !== hashed.others) await home.catchUp();
    const { history, branchId } = before.branch;
    const isElsewhere = (rows: RowReader): boolean =>
      findCallRow(rows, history, call.id) !== undefined ||
      // Which of several branches with the same list is gone on with, the rows say.
      alike(rows, hashes.lists[shown] as Uint8Array, session).some(
        (other) => other.branchId !== branchId || other.history !== history,
      ) ||
      hashes.lists.slice(shown + 1).some((list) => alike(rows, list, session).length > 0);
    if (await projection.read(isElsewhere)) return undefined;
    return submit(hashed, appendSteps(messages, shown), {
      ...{ branch: before.branch, ...newest, match: 'appended', shown, origin: null },
    });
  };

  return {
    remember,
    goOn: async (hashed) => {
      const before = conversations.find(hashed.beginning);
      if (before === undefined || !extend(hashed, before)) return undefined;
      try {
        return await tryToGoOn(hashed, before);
      } catch (error) {
        if (!isStemmaError(error)) throw error;
        // Whatever it is, the way that reads everything finds it, too.
        conversations.forget(hashed.beginning, before.branch);
        return undefined;
      }
    },
    first: (hashed, { history, name, erasable }, origin) =>
      submit(hashed, callSteps([], hashed.messages).steps, {
        ...{
          branch: branchRefOf(history, 0),
          name,
          erasable,
          tip: null,
          last: null,
          match: 'started',
          shown: 0,
          origin,
        },
      }),
  };
};

/** The calls with a list that a call of a session may go on from. */
const alike = (
  rows: RowReader,
  list: Uint8Array,
  session: string | undefined,
): ReturnType<typeof callsWithPrompt> =>
  session === undefined
    ? callsWithPrompt(rows, list)
    : [session, NO_SESSION].flatMap((each) => callsWithPrompt(rows, list, each));

/** What the three hashes of a message take, each an array of its own. */
const BYTES_OF_HASHES = 750;

/** True if a list goes on from another one behind its leading system messages. */
const extend = ({ messages, hashes }: HashedCall, { given, hashes: before }: Conversation): boolean => {
  const shown = given.length;
  if (messages.length <= shown) return false;
  const [list, known] = [hashes.lists[shown], before.lists[shown]];
  if (list === undefined || known === undefined || compareBytes(list, known) !== 0) return false;
  return leadingSystem(messages) === leadingSystem(given);
};
