import type { WideJson } from '@stemma/canonical';
import type { Outcome } from '@stemma/command-handler';
import { erasableOf, type CallOrigin, type Erasable } from '@stemma/events';
import { historyId, underFreeName } from '@stemma/history';
import {
  branchRefOf,
  mainBranchId,
  readPositionMeta,
  readTipSeq,
  type BranchRef,
} from '@stemma/history-store';
import type { Projection } from '@stemma/projector';
import { newestCallRow } from '@stemma/read-models';

import { isInHistory } from './call-scopes.ts';
import type { MatchCandidate } from './match-call.ts';
import { openHistoryNames } from './names-after-messages.ts';
import type { CallTarget } from './record-call.ts';
import type { FoundBranch, UnplacedCall } from './record-request-types.ts';

/** The position at which a history begins. */
export const BEGINNING = { branchId: 0, seq: 0 };

/** Starts histories and branches for calls. */
export class BranchStarter {
  readonly #home: Pick<CallTarget, 'submit'>;
  readonly #projection: Projection;
  readonly #names = openHistoryNames();

  constructor(home: Pick<CallTarget, 'submit'>, projection: Projection) {
    this.#home = home;
    this.#projection = projection;
  }

  /** The branch of an earlier call, or one that starts there; without an earlier call a new one. */
  async open(
    call: UnplacedCall,
    { from, match, messages, origin }: Pick<FoundBranch, 'from' | 'match' | 'messages' | 'origin'>,
  ): Promise<BranchRef> {
    if (from === undefined) return this.#openFirst(call, { messages, origin });
    const { history, branchId, at } = from;
    return match === 'forked' ? this.fork(history, at, call) : branchRefOf(history, branchId);
  }

  async fork(
    history: string,
    at: MatchCandidate['at'],
    { id, by }: Pick<UnplacedCall, 'id' | 'by'>,
  ): Promise<BranchRef> {
    const { branchId } = at;
    const step = { op: 'fork', at } as const;
    const started = await this.#home.submit({ id: `${id}.fork`, history, branchId, by, steps: [step] });
    return branchRefOf(history, started.branchId);
  }

  /** What a conversation that begins must be, so that no text of an erasable history gets into one that is not. */
  async erasableFor({ within }: UnplacedCall, origin: CallOrigin | null): Promise<Erasable | undefined> {
    if (within !== undefined && 'beside' in within) return within.erasable;
    if (origin === null) return undefined;
    return erasableOf(await this.#projection.payloads.events(origin.history, 0));
  }

  /**
   * Starts the history of a call under a name of its own, as nobody named it. One that can be erased has none: names stand in
   * the clear.
   */
  startNamed<T>(
    call: UnplacedCall,
    messages: readonly WideJson[],
    erasable: Erasable | undefined,
    start: (name: string | null, history: string) => Promise<T>,
  ): Promise<T> {
    const command = startOf(call);
    const proposed = erasable === undefined ? this.#names.proposed(messages, command) : [null];
    return underFreeName(proposed, command, start, this.#names.took);
  }

  /** The branch of a conversation that goes on from none: of a new history, or of its own in the one that was named. */
  async #openFirst(
    call: UnplacedCall,
    { messages, origin }: Pick<FoundBranch, 'messages' | 'origin'>,
  ): Promise<BranchRef> {
    const { id, by, within } = call;
    if (!isInHistory(within)) {
      const { history } = await this.#startHistory(call, messages, await this.erasableFor(call, origin));
      return branchRefOf(history, 0);
    }
    const { history } = within;
    const [main, isBegun] = await this.#projection.read((rows) => {
      const branchId = mainBranchId(rows, history);
      const { meta } = readPositionMeta(rows, history, branchId, readTipSeq(rows, history, branchId));
      // After a rollback to the beginning there are calls, and none on the branch.
      return [branchId, meta.cycle > 0 && newestCallRow(rows, history, branchId) !== undefined] as const;
    });
    return isBegun ? this.fork(history, BEGINNING, { id, by }) : branchRefOf(history, main);
  }

  #startHistory(
    call: UnplacedCall,
    messages: readonly WideJson[],
    erasable: Erasable | undefined,
  ): Promise<Outcome> {
    return this.startNamed(call, messages, erasable, (name, history) =>
      this.#home.submit({
        ...{ id: startOf(call), history, branchId: 0, by: call.by },
        steps: [{ op: 'start', name, ...(erasable && { erasable }) }],
      }),
    );
  }
}

/** The command that starts the history of a call that goes on from none, and that history if nothing is said in it. */
const startOf = ({ id }: UnplacedCall): string => `${id}.start`;
export const unnamedHistoryOf = (call: UnplacedCall): string => historyId(null, startOf(call));
