import { fail, isStemmaError } from '@stemma/errors';
import type { Author, Release } from '@stemma/events';
import { releaseOf } from '@stemma/history';
import { branchAddressOf } from '@stemma/history-store';
import type { Projection } from '@stemma/projector';
import {
  findHeldCall,
  listHeldCalls,
  listInterventions,
  listUnreleasedCalls,
  type HeldCallRow,
} from '@stemma/read-models';
import { defined, millisecondsOf } from '@stemma/values';
import { nowAndThen } from './now-and-then.ts';
import type { ActorWithNotes, HeldCall, SteeredHome, Steering } from './types.ts';

/** How often the log is asked whether held calls were released, in milliseconds. */
const INTERVAL = 100;

/** Milliseconds after its time that a call waits for a log that is away. */
const GRACE = 3_000;

const RECORDER: Author = { recorder: 'proxy' };

export type Released = { readonly how: Release; readonly message: string | null };

type Waiting = {
  readonly history: string;
  readonly branchId: number;
  readonly attemptId: string;
  readonly until: number;
  readonly end: (released: Released) => void;
  isAsked: boolean;
};

/** The calls that this process holds: the log says when one goes on, whoever let it. */
export type HeldCalls = Pick<Steering, 'held' | 'release' | 'lose'> & {
  /** Resolves when the call was released, or its time is over, or its client is gone. */
  readonly wait: (
    call: Pick<Waiting, 'history' | 'branchId' | 'attemptId' | 'until'>,
    gone: AbortSignal,
  ) => Promise<Released>;
  readonly close: () => void;
};

export const openHeldCalls = (home: SteeredHome, projection: Projection): HeldCalls => {
  const waiting = new Map<string, Waiting>();
  const isCloser = nowAndThen(projection);
  let timer: NodeJS.Timeout | undefined;

  const record = async (
    call: Pick<Waiting, 'history' | 'branchId' | 'attemptId'>,
    how: Release,
  ): Promise<void> => {
    const { history, branchId, attemptId } = call;
    try {
      await home.submit({
        id: releaseOf(attemptId),
        history,
        branchId,
        by: RECORDER,
        steps: [{ op: 'release_call', attemptId, how, message: null }],
      });
    } catch (error) {
      // Somebody else released it at the same time: the log says how.
      if (!isStemmaError(error, 'E_COMMAND_REUSED')) throw error;
    }
  };
  /** Calls that are held by nobody here: those of processes that have ended are among them, and there are no more of these. */
  let left: Promise<ReadonlyMap<string, HeldCallRow>> | undefined;
  const readLeft = async (): Promise<ReadonlyMap<string, HeldCallRow>> => {
    await home.catchUp();
    const rows = await projection.read((view) => listUnreleasedCalls(view));
    return new Map(rows.filter((row) => !waiting.has(row.attemptId)).map((row) => [row.attemptId, row]));
  };
  const end = (call: Waiting, released: Released): void => {
    if (!waiting.delete(call.attemptId)) return;
    call.end(released);
  };
  const ask = async (call: Waiting): Promise<void> => {
    const now = Date.now();
    if (now > call.until + GRACE) {
      end(call, { how: 'timed out', message: null });
      return;
    }
    if (now >= call.until && !call.isAsked) {
      call.isAsked = true;
      await record(call, 'timed out').catch(() => (call.isAsked = false));
      return;
    }
    const row = await projection.read((rows) => findHeldCall(rows, call.history, call.attemptId));
    if (row?.released != null) end(call, row.released);
  };
  const round = async (): Promise<void> => {
    try {
      await home.catchUp();
    } catch {
      // The log is away: those whose time is over go on.
    }
    await Promise.all([...waiting.values()].map((call) => ask(call).catch(() => undefined)));
    timer = undefined;
    schedule();
  };
  const schedule = (): void => {
    if (waiting.size > 0) timer ??= setTimeout(() => void round(), INTERVAL);
  };
  const answer = async (row: HeldCallRow): Promise<HeldCall> => {
    const { at, position, released, ...rest } = row;
    const branch = await projection.read((rows) => branchAddressOf(rows, row.history, row.branchId));
    return {
      ...rest,
      branch,
      seq: position,
      since: millisecondsOf(at),
      released: released === null ? null : { ...released, at: millisecondsOf(released.at) },
    };
  };
  const rowOf = async (history: string, attemptId: string): Promise<HeldCallRow> => {
    await home.catchUp();
    const row = await projection.read((rows) => findHeldCall(rows, history, attemptId));
    if (row === undefined)
      throw fail('E_CALL_NOT_HELD', `no call ${attemptId.slice(0, 200)} of this history is held`, {
        attempt: attemptId,
      });
    if (row.released !== null) throw releasedBefore(row);
    return row;
  };
  const release = async (
    history: string,
    attemptId: string,
    { abort, message }: { readonly abort: boolean; readonly message?: string },
    { actor, notes }: ActorWithNotes,
  ): Promise<HeldCall> => {
    const row = await rowOf(history, attemptId);
    const { branchId, seq } = row;
    const [edit] = await projection.read(
      (rows) => listInterventions(rows, history, { branchId, from: seq + 1, limit: 1 }).rows,
    );
    try {
      await home.submit({
        id: releaseOf(attemptId),
        history,
        branchId,
        by: { actor },
        ...defined({ notes }),
        steps: [
          {
            op: 'release_call',
            attemptId,
            how: abort ? 'aborted' : edit === undefined ? 'resumed' : 'edited',
            message: abort ? (message ?? null) : null,
          },
        ],
      });
    } catch (error) {
      if (!isStemmaError(error, 'E_COMMAND_REUSED')) throw error;
      await rowOf(history, attemptId);
      throw error;
    }
    await home.catchUp();
    const done = await projection.read((rows) => findHeldCall(rows, history, attemptId));
    return answer(done ?? row);
  };
  return {
    wait: ({ history, branchId, attemptId, until }, gone) =>
      new Promise<Released>((resolve) => {
        const call: Waiting = { history, branchId, attemptId, until, isAsked: false, end: resolve };
        waiting.set(attemptId, call);
        const leave = (): void => {
          void record(call, 'cancelled').catch(() => undefined);
          end(call, { how: 'cancelled', message: null });
        };
        if (gone.aborted) leave();
        else gone.addEventListener('abort', leave, { once: true });
        schedule();
      }),
    held: async (history, { all = false } = {}) => {
      await home.catchUp();
      const closer = history === undefined && isCloser();
      const rows = await projection.read((view) =>
        all && history !== undefined
          ? listHeldCalls(view, history)
          : listUnreleasedCalls(view, history, closer),
      );
      const now = Date.now();
      // Whoever held it is gone if its time is long over, and nobody has said what became of it.
      const there = rows.filter(({ released, until }) => all || (released === null && now <= until + GRACE));
      there.sort((a, b) => Number(a.at - b.at) || (a.attemptId < b.attemptId ? -1 : 1));
      return Promise.all(there.map(answer));
    },
    release,
    lose: async (attemptId) => {
      left ??= readLeft().catch((error: unknown) => {
        left = undefined;
        throw error;
      });
      const lost = (await left).get(attemptId);
      if (lost !== undefined) await record(lost, 'lost');
    },
    close: () => {
      clearTimeout(timer);
      for (const call of waiting.values()) end(call, { how: 'cancelled', message: null });
    },
  };
};

const releasedBefore = ({ attemptId, released }: HeldCallRow): Error =>
  fail(
    'E_CALL_NOT_HELD',
    `the call ${attemptId} is not held any more: it was ${released?.how ?? 'released'}${released?.by == null ? '' : ` by ${released.by}`}`,
    { attempt: attemptId },
  );
