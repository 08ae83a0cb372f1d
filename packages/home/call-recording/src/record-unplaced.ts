import type { Outcome } from '@stemma/command-handler';
import { isStemmaError } from '@stemma/errors';
import type { CallOrigin } from '@stemma/events';
import { branchRefOf, type BranchRef } from '@stemma/history-store';
import type { Projection } from '@stemma/projector';
import { findCallRow, type CallRow } from '@stemma/read-models';
import { defined } from '@stemma/values';

import { unnamedHistoryOf, type BranchStarter } from './start-branches.ts';
import { isInHistory } from './call-scopes.ts';
import { candidatesFor, findPlacement, type CallPlacement, type WantedPlacement } from './call-placement.ts';
import type { HashedCall, QuickRecorder } from './go-on.ts';
import type { MatchCandidate } from './match-call.ts';
import { promptOf } from './prompt-hash.ts';
import type { Call, CallOutcome } from './record-call-types.ts';
import type { CallTarget } from './record-call.ts';
import type { PlacedCall } from './record-request-types.ts';
import type { CallFacts, CallStarter } from './start-call.ts';

/** What recording needs of a home. */
export type RequestTarget = CallTarget & {
  recordCall(branch: BranchRef, call: Call): Promise<CallOutcome>;
  catchUp(): Promise<void>;
};

/** What recording a call needs where its messages say that it belongs. */
type RecordingParts = {
  readonly home: RequestTarget;
  readonly projection: Projection;
  readonly starter: CallStarter;
  readonly quick: QuickRecorder;
  readonly branches: BranchStarter;
  /** True if rules take secrets out of what is recorded. */
  readonly redacts: boolean;
};

/** How often to look again when the branch went on between the look and the write. */
const MAX_TRIES = 5;

/** What the rows know of a call before it is recorded. */
type Known = {
  readonly candidates: readonly MatchCandidate[];
  /** It is recorded in the history of an earlier call that it may go on from. */
  readonly there: PlacedCall | undefined;
  /** It is recorded in the history that it started without a message. */
  readonly unnamed: PlacedCall | undefined;
};

/** Records calls where their messages say that they belong. */
export class UnplacedCalls {
  readonly #parts: RecordingParts;

  constructor(parts: RecordingParts) {
    this.#parts = parts;
  }

  async record(hashed: HashedCall): Promise<PlacedCall> {
    const { home, projection } = this.#parts;
    const wanted = { ...hashed, within: hashed.call.within };
    for (let tries = 1; ; tries++) {
      await home.catchUp();
      const known = await this.#look(wanted);
      if (known.there !== undefined) return known.there;
      const place = await findPlacement(home, projection, wanted, known.candidates);
      const { match, from } = place;
      try {
        if (from === undefined)
          return known.unnamed ?? (await this.#begin(withPlace(hashed, place), place.origin));
        if (match === 'repeated') return await this.#repeat(from, hashed);
        return await this.#goOn(place, withPlace(hashed, place));
      } catch (error) {
        // A process that was killed may have recorded this very call, in frames that nobody knew of before the next write.
        const mayBeKnown = tries === 1 && isStemmaError(error, 'E_COMMAND_REUSED');
        if (tries >= MAX_TRIES || !(mayBeKnown || isStemmaError(error, 'E_CONFLICT'))) throw error;
      }
    }
  }

  #look(wanted: WantedPlacement & Pick<HashedCall, 'call'>): Promise<Known> {
    const { call } = wanted;
    return this.#parts.projection.read((rows) => {
      const recordedIn = (history: string): PlacedCall | undefined => {
        const row = findCallRow(rows, history, call.id);
        return row && placedBefore(history, row);
      };
      const candidates = candidatesFor(rows, wanted);
      return {
        candidates,
        there: candidates.map(({ history }) => recordedIn(history)).find((place) => place !== undefined),
        // A call without messages is not found by them.
        unnamed: isInHistory(call.within) ? undefined : recordedIn(unnamedHistoryOf(call)),
      };
    });
  }

  /** Another attempt of the same call. */
  async #repeat(
    { history, branchId, at }: NonNullable<CallPlacement['from']>,
    { call: { id, by, facts }, scope, hashes }: HashedCall,
  ): Promise<PlacedCall> {
    const { home, starter } = this.#parts;
    const branch = branchRefOf(history, branchId);
    const found = { scope, match: 'repeated' } as const;
    const known = { ...facts, found };
    const step = await starter.step(branch, known, [], { ...found, origin: null, ...promptOf(hashes, []) });
    const steps = [{ ...step, position: at }, ...starter.end(id, facts)];
    const { events, seq, repeated } = await home.submit({ id, history, branchId, by, steps });
    starter.recorded(branch, events, seq, known);
    return { branch, match: 'repeated', isEnded: facts.end !== undefined, ...(repeated && BEFORE) };
  }

  /** A call that goes on from an earlier one, on its branch or on one that starts there. */
  async #goOn({ from, match, tip }: CallPlacement, hashed: HashedCall): Promise<PlacedCall> {
    const { call, messages } = hashed;
    const branch = await this.#parts.branches.open(call, { from, match, messages, origin: null });
    const expected = branch.branchId === from?.branchId ? tip : undefined;
    return this.#recordIn(branch, hashed, { match, origin: null }, expected);
  }

  /** A call that begins a conversation. */
  async #begin(hashed: HashedCall, origin: CallOrigin | null): Promise<PlacedCall> {
    const { call, messages } = hashed;
    const first = await this.#beginQuickly(hashed, origin);
    if (first !== undefined) return first;
    const match = 'started';
    const branch = await this.#parts.branches.open(call, { from: undefined, match, messages, origin });
    return this.#recordIn(branch, hashed, { match, origin });
  }

  /** In one frame with the history that it starts. @returns undefined if that cannot be */
  async #beginQuickly(hashed: HashedCall, origin: CallOrigin | null): Promise<PlacedCall | undefined> {
    const { redacts, branches, quick } = this.#parts;
    const { call, messages } = hashed;
    if (redacts || call.facts.unsteered !== undefined || isInHistory(call.within)) return undefined;
    const erasable = await branches.erasableFor(call, origin);
    return branches
      .startNamed(call, messages, erasable, (name, history) =>
        quick.first(hashed, { history, name, erasable }, origin),
      )
      .catch((error: unknown) => {
        // Another version of this program started it in a frame of its own.
        if (isStemmaError(error, 'E_HISTORY_EXISTS')) return undefined;
        throw error;
      });
  }

  async #recordIn(
    branch: BranchRef,
    hashed: HashedCall,
    found: Omit<CallFacts['found'] & object, 'scope'>,
    expected?: number,
  ): Promise<PlacedCall> {
    const { home, redacts, quick } = this.#parts;
    const { call, scope, hashes } = hashed;
    const outcome = await home.recordCall(branch, {
      ...call,
      facts: { ...call.facts, found: { scope, ...found }, hashes },
      ...defined({ expected }),
    });
    if (!redacts && found.match !== 'named') quick.remember(hashed, outcome);
    return { ...placeOf(outcome), match: found.match };
  }
}

/** What is recorded of a call's place besides its branch. */
const withPlace = (hashed: HashedCall, { follows, mayContinue }: CallPlacement): HashedCall => {
  if (follows === undefined && mayContinue === undefined) return hashed;
  const { call } = hashed;
  const place = { ...call.facts.place, ...defined({ follows, mayContinue }) };
  return { ...hashed, call: { ...call, facts: { ...call.facts, place } } };
};

const BEFORE = { before: true } as const;

/** Where a frame has recorded a call, perhaps another time than now. */
const placeOf = ({ history, branchId, events, repeated }: Outcome): Omit<PlacedCall, 'match'> => ({
  branch: branchRefOf(history, branchId),
  isEnded: events.some(({ type }) => type === 'CallFinished'),
  ...(repeated && BEFORE),
});

/** A call that was recorded before. */
const placedBefore = (history: string, { branchId, match, finished }: CallRow): PlacedCall => ({
  branch: branchRefOf(history, branchId),
  match: match ?? 'named',
  isEnded: finished !== null,
  ...BEFORE,
});
