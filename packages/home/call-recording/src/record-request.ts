import type { Outcome } from '@stemma/command-handler';
import { sha256Hex, type WideJson } from '@stemma/canonical';
import { isStemmaError } from '@stemma/errors';
import { erasableOf, type CallMatch, type CallOrigin, type Erasable } from '@stemma/events';
import { historyId, underFreeName, type Redaction } from '@stemma/history';
import {
  branchRefOf,
  mainBranchId,
  readPositionMeta,
  readTipSeq,
  type BranchRef,
} from '@stemma/history-store';
import { comparableMessage, leadingSystem, redactMessages, toOpenAIMessages } from '@stemma/importers';
import type { Projection } from '@stemma/projector';
import { findCallRow, newestCallRow, type CallRow } from '@stemma/read-models';
import type { Redactor } from '@stemma/redaction';
import { inOrderByKey } from '@stemma/values';

import { findEarlierCall, matchByHash, matchByMessages, type MatchCandidate } from './match-call.ts';

import { besideOf, isInHistory, scopeOf } from './call-scopes.ts';
import { findParent } from './find-parent.ts';
import { openConversations } from './conversations.ts';
import { openHistoryNames } from './names-after-messages.ts';
import { openQuickRecorder, type HashedCall } from './go-on.ts';
import { hashPrompt, promptOf, type PromptHashes } from './prompt-hash.ts';
import type { Call, CallOutcome } from './record-call-types.ts';
import type { PlacedCall, UnplacedCall } from './record-request-types.ts';
import type { CallTarget } from './record-call.ts';
import type { CallFacts, CallStarter } from './start-call.ts';

/** What recording needs of a home. */
export type RequestTarget = CallTarget & {
  recordCall(branch: BranchRef, call: Call): Promise<CallOutcome>;
  catchUp(): Promise<void>;
};

/** How often to look again when the branch went on between the look and the write. */
const MAX_TRIES = 5;

/** The position at which a history begins. */
export const BEGINNING = { branchId: 0, seq: 0 };

/** Where a call belongs, before anything of it is recorded. */
export type FoundBranch = {
  readonly scope: string;
  readonly match: CallMatch;
  /** The call that led to it, if it begins a conversation of its own. */
  readonly origin: CallOrigin | null;
  /** The call that it goes on from, and its branch; undefined: it begins a conversation. */
  readonly from: Pick<MatchCandidate, 'history' | 'branchId' | 'at'> | undefined;
  /** What is compared and recorded: without secrets, where rules take them out. */
  readonly messages: readonly WideJson[];
  readonly redactions: readonly (readonly Redaction[])[];
  readonly hashes: PromptHashes;
};

/** Records calls where their messages say that they belong. */
export type RequestRecorder = {
  /**
   * Records a call at the end of the conversation that it goes on, as another attempt of the same call, as a fork, or in a
   * new history (calls §3). Calls of one conversation are recorded in the order in which this is called.
   *
   * @throws as `recordCall`, except E_CONFLICT
   */
  record(call: UnplacedCall): Promise<PlacedCall>;
  /** A frame of this process was accepted; called in the order of the frames of a history. */
  accepted(outcome: Outcome): void;
  /** The end of a call of a branch is being recorded. */
  ending(branch: BranchRef, work: Promise<unknown>): void;
  /** Looks where a call belongs, and records nothing. @throws as `record` */
  find(call: UnplacedCall): Promise<FoundBranch>;
  /** The branch for a call that was found to belong there; it is started, if it is a new one. */
  open(call: UnplacedCall, place: FoundBranch): Promise<BranchRef>;
  /** Starts a branch for a call at a position. */
  fork(call: UnplacedCall, history: string, at: MatchCandidate['at']): Promise<BranchRef>;
};

export const openRequestRecorder = (
  home: RequestTarget,
  projection: Projection,
  starter: CallStarter,
  redactor?: Redactor,
): RequestRecorder => {
  /** Calls that begin alike may be of one conversation: they wait for each other. */
  const inOrder = inOrderByKey();
  const conversations = openConversations();
  const quick = openQuickRecorder(home, projection, starter, conversations);

  const recordIn = async (branch: BranchRef, call: UnplacedCall, scope: string): Promise<PlacedCall> => {
    const found = { scope, match: 'named' } as const;
    const outcome = await home.recordCall(branch, { ...call, facts: { ...call.facts, found } });
    return { ...placeOf(outcome), match: 'named' };
  };

  /** The branch of a conversation that goes on from none: of a new history, or of its own in the one that was named. */
  const newBranch = async (
    call: UnplacedCall,
    { messages, origin }: Pick<FoundBranch, 'messages' | 'origin'>,
  ): Promise<BranchRef> => {
    const { id, by, within } = call;
    if (!isInHistory(within)) {
      const { history } = await startHistory(call, messages, await erasableFor(call, origin));
      return branchRefOf(history, 0);
    }
    const { history } = within;
    const [main, isBegun] = await projection.read((rows) => {
      const branchId = mainBranchId(rows, history);
      const { meta } = readPositionMeta(rows, history, branchId, readTipSeq(rows, history, branchId));
      // After a rollback to the beginning there are calls, and none on the branch.
      return [branchId, meta.cycle > 0 && newestCallRow(rows, history, branchId) !== undefined] as const;
    });
    return isBegun ? forkAt(history, BEGINNING, { id, by }) : branchRefOf(history, main);
  };
  /** What a conversation that begins must be, so that no text of an erasable history gets into one that is not. */
  const erasableFor = async (
    { within }: UnplacedCall,
    origin: CallOrigin | null,
  ): Promise<Erasable | undefined> => {
    if (within !== undefined && 'beside' in within) return within.erasable;
    return origin === null ? undefined : erasableOf(await projection.payloads.events(origin.history, 0));
  };
  const names = openHistoryNames();
  /** Under a name of its own, as nobody named it. One that can be erased has none: names stand in the clear. */
  const underOwnName = <T>(
    call: UnplacedCall,
    messages: readonly WideJson[],
    erasable: Erasable | undefined,
    start: (name: string | null, history: string) => Promise<T>,
  ): Promise<T> => {
    const command = startOf(call);
    const proposed = erasable === undefined ? names.proposed(messages, command) : [null];
    return underFreeName(proposed, command, start, names.took);
  };
  const startHistory = (
    call: UnplacedCall,
    messages: readonly WideJson[],
    erasable: Erasable | undefined,
  ): Promise<Outcome> =>
    underOwnName(call, messages, erasable, (name, history) =>
      home.submit({
        ...{ id: startOf(call), history, branchId: 0, by: call.by },
        steps: [{ op: 'start', name, ...(erasable && { erasable }) }],
      }),
    );
  const forkAt = async (
    history: string,
    at: MatchCandidate['at'],
    { id, by }: Pick<UnplacedCall, 'id' | 'by'>,
  ): Promise<BranchRef> => {
    const { branchId } = at;
    const step = { op: 'fork', at } as const;
    const started = await home.submit({ id: `${id}.fork`, history, branchId, by, steps: [step] });
    return branchRefOf(history, started.branchId);
  };

  const repeat = async (
    { history, branchId, at }: MatchCandidate,
    { id, by, facts }: UnplacedCall,
    found: CallFacts['found'] & object,
    hashes: PromptHashes,
  ): Promise<PlacedCall> => {
    const branch = branchRefOf(history, branchId);
    const known = { ...facts, found };
    const step = await starter.step(branch, known, [], { ...found, origin: null, ...promptOf(hashes, []) });
    const steps = [{ ...step, position: at }, ...starter.end(id, facts)];
    const { events, seq } = await home.submit({ id, history, branchId, by, steps });
    starter.recorded(branch, events, seq, known);
    return { branch, match: 'repeated', isEnded: facts.end !== undefined };
  };

  const record = async (hashed: HashedCall): Promise<PlacedCall> => {
    const { call, messages, scope, hashes } = hashed;
    const leading = leadingSystem(messages);
    for (let tries = 1; ; tries++) {
      await home.catchUp();
      const { candidate, known, unnamed } = await projection.read((rows) => {
        const recordedIn = (history: string): PlacedCall | undefined => {
          const row = findCallRow(rows, history, call.id);
          return row && placedBefore(history, row);
        };
        const candidate = findEarlierCall(rows, hashes, leading, besideOf(call.within));
        return {
          candidate,
          known: candidate && recordedIn(candidate.history),
          // A call without messages is not found by them.
          unnamed: isInHistory(call.within) ? undefined : recordedIn(unnamedHistoryOf(call)),
        };
      });
      if (known !== undefined) return known;
      const match = candidate && (await matchOf(candidate, messages, leading));
      try {
        if (candidate !== undefined && match === 'repeated')
          return await repeat(candidate, call, { scope, match }, hashes);
        if (match === undefined && unnamed !== undefined) return unnamed;
        const origin = match === undefined ? await findParent(projection, scope, messages) : null;
        const isPlain = redactor === undefined && call.facts.unsteered === undefined;
        if (isPlain && match === undefined && !isInHistory(call.within)) {
          const erasable = await erasableFor(call, origin);
          const first = await underOwnName(call, messages, erasable, (name, history) =>
            quick.first(hashed, { history, name, erasable }, origin),
          ).catch((error: unknown) => {
            // Another version of this program started it in a frame of its own.
            if (isStemmaError(error, 'E_HISTORY_EXISTS')) return undefined;
            throw error;
          });
          if (first !== undefined) return first;
        }
        const from = match === undefined ? undefined : candidate;
        const how = match ?? 'started';
        const branch = await branchFor(call, { from, match: how, messages, origin });
        const outcome = await home.recordCall(branch, {
          ...call,
          facts: { ...call.facts, found: { scope, match: how, origin }, hashes },
          ...(candidate !== undefined && branch.branchId === candidate.branchId && how !== 'started'
            ? { expected: candidate.tip }
            : {}),
        });
        if (redactor === undefined) quick.remember(hashed, outcome);
        return { ...placeOf(outcome), match: how };
      } catch (error) {
        // A process that was killed may have recorded this very call, in frames that nobody knew of before the next write.
        const mayBeKnown = tries === 1 && isStemmaError(error, 'E_COMMAND_REUSED');
        if (tries >= MAX_TRIES || !(mayBeKnown || isStemmaError(error, 'E_CONFLICT'))) throw error;
      }
    }
  };
  /** The branch of an earlier call, or one that starts there; without an earlier call a new one. */
  const branchFor = async (
    call: UnplacedCall,
    { from, match, messages, origin }: Pick<FoundBranch, 'from' | 'match' | 'messages' | 'origin'>,
  ): Promise<BranchRef> => {
    if (from === undefined) return newBranch(call, { messages, origin });
    const { history, branchId, at } = from;
    return match === 'forked' ? forkAt(history, at, call) : branchRefOf(history, branchId);
  };
  const matchOf = async (
    candidate: MatchCandidate,
    messages: readonly WideJson[],
    leading: number,
  ): Promise<ReturnType<typeof matchByHash> | ReturnType<typeof matchByMessages>> => {
    const match = matchByHash(candidate, messages.length);
    if (match !== undefined) return match;
    const { history, branchId } = candidate;
    const { tree, payloads, thread } = await home.view(await home.position(branchRefOf(history, branchId)));
    const shown = toOpenAIMessages(tree, payloads, thread);
    return matchByMessages(candidate, {
      call: messages.map(comparableMessage),
      branch: shown.map(comparableMessage),
      leading: { call: leading, branch: leadingSystem(shown) },
      isAsked: (index) => shown[index]?.['role'] === 'user',
    });
  };

  const redacted = async (
    messages: UnplacedCall['messages'],
  ): Promise<Pick<FoundBranch, 'messages' | 'redactions'>> => {
    if (redactor === undefined) return { messages, redactions: [] };
    const done = await redactMessages(messages, (nodes) => redactor.nodes(nodes));
    return { messages: done.messages, redactions: done.found };
  };

  return {
    async find(call) {
      const { within } = call;
      const scope = redactedScope(scopeOf(within), redactor);
      const { messages, redactions } = await redacted(call.messages);
      const hashes = hashPrompt(scope, messages);
      const known = { scope, messages, redactions, hashes, origin: null };
      await home.catchUp();
      if (within !== undefined && 'branch' in within) {
        const { history, branchId, seq } = await home.position(within.branch);
        return { ...known, match: 'named', from: { history, branchId, at: { branchId, seq } } };
      }
      const leading = leadingSystem(messages);
      const candidate = await projection.read((rows) =>
        findEarlierCall(rows, hashes, leading, besideOf(within)),
      );
      const match = candidate && (await matchOf(candidate, messages, leading));
      if (candidate === undefined || match === undefined)
        return {
          ...known,
          match: 'started',
          from: undefined,
          origin: await findParent(projection, scope, messages),
        };
      return { ...known, match, from: candidate };
    },
    open: branchFor,
    fork: (call, history, at) => forkAt(history, at, call),
    async record(call) {
      const { within } = call;
      const scope = redactedScope(scopeOf(within), redactor);
      if (within !== undefined && 'branch' in within)
        return inOrder(`${within.branch.history} ${within.branch.branchId}`, () =>
          recordIn(within.branch, call, scope),
        );
      const { messages } = await redacted(call.messages);
      const beginning = beginningOf(scope, messages);
      // Any two conversations of one history may begin at the same time, and only one of them on its first branch.
      return inOrder(isInHistory(within) ? scope : beginning, async () => {
        const hashes = hashPrompt(scope, messages, conversations.find(beginning));
        const others = conversations.others(scope);
        const hashed = { call, messages, scope, hashes, beginning, others };
        return conversations.recording(call.id, async () => {
          const goneOn =
            redactor === undefined && call.facts.unsteered === undefined
              ? await quick.goOn(hashed)
              : undefined;
          return goneOn ?? record(hashed);
        });
      });
    },
    accepted: conversations.accepted,
    ending: conversations.ending,
  };
};

/** A scope is recorded with each call, and a program names its runs as it likes. */
const redactedScope = (scope: string, redactor: Redactor | undefined): string =>
  redactor?.text(scope) ?? scope;

/** The hash of what a conversation begins with: the system's messages, and the first one behind them. */
const beginningOf = (scope: string, messages: readonly WideJson[]): string => {
  const beginning = messages.slice(0, leadingSystem(messages) + 1);
  return sha256Hex([JSON.stringify(scope), ...beginning.map(comparableMessage)].join('\n'));
};

/** The command that starts the history of a call that goes on from none, and that history if nothing is said in it. */
const startOf = ({ id }: UnplacedCall): string => `${id}.start`;
const unnamedHistoryOf = (call: UnplacedCall): string => historyId(null, startOf(call));

/** Where a frame has recorded a call, perhaps another time than now. */
const placeOf = ({ history, branchId, events }: Outcome): Omit<PlacedCall, 'match'> => ({
  branch: branchRefOf(history, branchId),
  isEnded: events.some(({ type }) => type === 'CallFinished'),
});

/** A call that was recorded before. */
const placedBefore = (history: string, { branchId, match, finished }: CallRow): PlacedCall => ({
  branch: branchRefOf(history, branchId),
  match: match ?? 'named',
  isEnded: finished !== null,
});
