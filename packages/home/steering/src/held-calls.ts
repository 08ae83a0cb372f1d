import { branchAddressOf } from '@stemma/history-store';
import type { Projection } from '@stemma/projector';
import { listHeldCalls, listUnreleasedCalls, type HeldCallRow } from '@stemma/read-models';
import { millisecondsOf } from '@stemma/values';
import { nowAndThen } from './now-and-then.ts';
import { recordRelease, releaseCall } from './release-call.ts';
import type { HeldCall, SteeredHome, Steering } from './types.ts';
import { GRACE, WaitingCalls, type CallToHold, type Released } from './waiting-calls.ts';

/** The calls that this process holds: the log says when one goes on, whoever let it. */
export type HeldCalls = Pick<Steering, 'held' | 'release' | 'lose'> & {
  /** Resolves when the call was released, or its time is over, or its client is gone. */
  readonly wait: (call: CallToHold, gone: AbortSignal) => Promise<Released>;
  readonly close: () => void;
};

export const openHeldCalls = (home: SteeredHome, projection: Projection): HeldCalls => {
  const waiting = new WaitingCalls(home, projection);
  const isCloser = nowAndThen(projection);
  /** Calls that are held by nobody here: those of processes that have ended are among them, and there are no more of these. */
  let left: Promise<ReadonlyMap<string, HeldCallRow>> | undefined;
  const readLeft = async (): Promise<ReadonlyMap<string, HeldCallRow>> => {
    await home.catchUp();
    const rows = await projection.read((view) => listUnreleasedCalls(view));
    return new Map(rows.filter((row) => !waiting.has(row.attemptId)).map((row) => [row.attemptId, row]));
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
  return {
    wait: (call, gone) => waiting.add(call, gone),
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
    release: async (history, attemptId, how, by) =>
      answer(await releaseCall(home, projection, history, attemptId, how, by)),
    lose: async (attemptId) => {
      left ??= readLeft().catch((error: unknown) => {
        left = undefined;
        throw error;
      });
      const lost = (await left).get(attemptId);
      if (lost !== undefined) await recordRelease(home, lost, 'lost');
    },
    close: () => waiting.close(),
  };
};
