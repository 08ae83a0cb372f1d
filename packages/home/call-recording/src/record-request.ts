import type { Outcome } from '@stemma/command-handler';
import { sha256Hex, type WideJson } from '@stemma/canonical';
import type { BranchRef } from '@stemma/history-store';
import { leadingSystem, redactMessages } from '@stemma/importers';
import { comparableMessage } from '@stemma/model-apis';
import type { Projection } from '@stemma/projector';
import type { Redactor } from '@stemma/redaction';
import { defined, inOrderByKey } from '@stemma/values';

import { openConversations } from './conversations.ts';
import { isInHistory, scopeOf } from './call-scopes.ts';
import { BranchStarter } from './start-branches.ts';
import { openKeptMessages } from './kept-messages.ts';
import { openQuickRecorder } from './go-on.ts';
import { namedSession } from './named-session.ts';
import { candidatesFor, findPlacement } from './call-placement.ts';
import type { MatchCandidate } from './match-call.ts';
import { hashPrompt } from './prompt-hash.ts';
import { UnplacedCalls, type RequestTarget } from './record-unplaced.ts';
import type { FoundBranch, PlacedCall, UnplacedCall } from './record-request-types.ts';
import type { CallStarter } from './start-call.ts';

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
  const branches = new BranchStarter(home, projection);
  const withKeptMessages = openKeptMessages(home, projection);
  const calls = new UnplacedCalls({
    home,
    projection,
    starter,
    quick,
    branches,
    redacts: redactor !== undefined,
  });

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
      const session = namedSession(call, redactor);
      const known = {
        scope,
        session,
        run: namedRun(call, redactor),
        messages,
        redactions,
        hashes,
        origin: null,
      };
      await home.catchUp();
      if (within !== undefined && 'branch' in within) {
        const { history, branchId, seq } = await home.position(within.branch);
        return { ...known, match: 'named', from: { history, branchId, at: { branchId, seq } } };
      }
      const wanted = { messages, hashes, scope, session, within };
      const candidates = await projection.read((rows) => candidatesFor(rows, wanted));
      const { match, from, origin } = await findPlacement(home, projection, wanted, candidates);
      return { ...known, match, from, origin };
    },
    open: (call, place) => branches.open(call, place),
    fork: (call, history, at) => branches.fork(history, at, call),
    async record(given) {
      const { within } = given;
      const scope = redactedScope(scopeOf(within), redactor);
      const said = namedSession(given, redactor);
      const named = withPlace(given, defined({ session: said, run: namedRun(given, redactor) }));
      const call = await withKeptMessages(named, scope);
      // What its provider has kept of an earlier response is more exact.
      const session = call.facts.place?.kept === undefined ? said : undefined;
      const { messages } = await redacted(call.messages);
      const beginning = beginningOf(scope, session, messages);
      const branch = within !== undefined && 'branch' in within ? within.branch : undefined;
      // Any two conversations of one history may begin at the same time, and only one of them on its first branch.
      const key = isInHistory(within) ? scope : beginning;
      return inOrder(branch === undefined ? key : `${branch.history} ${branch.branchId}`, async () => {
        const hashes = hashPrompt(scope, messages, conversations.find(beginning));
        const others = conversations.others(scope);
        const hashed = { call, messages, scope, session, hashes, beginning, others };
        // Who names a branch is to every conversation as another process is.
        if (branch !== undefined) return calls.record(hashed);
        return conversations.recording(call.id, async () => {
          const isPlain = redactor === undefined && call.facts.unsteered === undefined;
          const goneOn = isPlain ? await quick.goOn(hashed) : undefined;
          return goneOn ?? calls.record(hashed);
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

/** The run that a call's recorder named, without secrets: a program names its runs as it likes. */
const namedRun = ({ facts: { run } }: UnplacedCall, redactor: Redactor | undefined): string | undefined =>
  run === undefined ? undefined : (redactor?.text(run) ?? run);

const withPlace = (call: UnplacedCall, place: NonNullable<UnplacedCall['facts']['place']>): UnplacedCall =>
  Object.keys(place).length === 0
    ? call
    : { ...call, facts: { ...call.facts, place: { ...call.facts.place, ...place } } };

/** The hash of what a conversation begins with: its session, the system's messages, and the first one behind them. */
const beginningOf = (scope: string, session = '', messages: readonly WideJson[]): string => {
  const beginning = messages.slice(0, leadingSystem(messages) + 1);
  return sha256Hex([JSON.stringify([scope, session]), ...beginning.map(comparableMessage)].join('\n'));
};
