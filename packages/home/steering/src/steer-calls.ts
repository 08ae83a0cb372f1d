import type { CallApi } from '@stemma/events';
import { type CallStarter, type RequestRecorder } from '@stemma/call-recording';
import { isStemmaError } from '@stemma/errors';
import { leadingSystem } from '@stemma/importers';
import type { Projection } from '@stemma/projector';
import { inOrderByKey } from '@stemma/values';
import { setTimeout as sleep } from 'node:timers/promises';
import { openBranchWriter, type Placed } from './branch-writer.ts';
import type { HeldCalls } from './held-calls.ts';
import { changeCall } from './change-call.ts';
import { holdCall, type Asked } from './hold-call.ts';
import { openCallBranches } from './call-branches.ts';
import { openSender } from './send-call.ts';
import type { Settings } from './settings.ts';
import type { OutgoingCall, SteeredCall, SteeredHome, Steering } from './types.ts';
import { unsteerable } from './unsteerable.ts';

/** Milliseconds that a steered call waits for a log that is away, and one more for so many bytes that are written to it. */
const DEADLINE = 3_000;
const BYTES = 1_024;

type Parts = {
  readonly home: SteeredHome;
  readonly projection: Projection;
  readonly starter: CallStarter;
  readonly requests: RequestRecorder;
  readonly held: HeldCalls;
  readonly settings: Settings;
  readonly redactedRequest: (body: Uint8Array, api: CallApi) => Promise<Uint8Array | null>;
  readonly say: (sentence: string) => void;
};

/** Steers calls: each is placed, written to its branch's draft, perhaps held, and then sent with what the branch shows. */
export const openSteeredCalls = (parts: Parts): Steering['call'] => {
  const { home, projection, held } = parts;
  const inOrder = inOrderByKey();
  const inTime = openDeadline();
  const branches = openCallBranches(parts);
  const writer = openBranchWriter(home, projection);
  const send = openSender({ ...parts, writer });

  /** What `work` gives, or that the call cannot be steered. */
  const orUnsteered = async (work: () => Promise<SteeredCall>): Promise<SteeredCall> => {
    try {
      return await work();
    } catch (error) {
      if (isStemmaError(error, 'E_CALL_NOT_STEERED')) return { kind: 'unsteered', reason: error.message };
      if (isStemmaError(error)) return { kind: 'unsteered', reason: `${error.message} (${error.code})` };
      return { kind: 'unsteered', reason: String(error) };
    }
  };

  /** Sends a call, and lets the next one be placed when this one is recorded, or the log is away. */
  const sendRecorded = async (
    { placed, drafted }: Pick<Prepared, 'placed' | 'drafted'>,
    call: OutgoingCall,
    retry: Parameters<Steering['call']>[2],
  ): Promise<SteeredCall> => {
    const sent = await inTime(call.plain.length, () => send(placed, call, drafted, retry));
    if (sent.kind === 'sent') await endOrDeadline(sent.recorded);
    return sent;
  };

  return (call, gone, retry) =>
    orUnsteered(async () => {
      const key = keyOf(call);
      const prepared = await inOrder(key, async (): Promise<Prepared | SteeredCall | undefined> => {
        const found = await inTime(call.plain.length, async (): Promise<Prepared | undefined> => {
          const placed = await branches.open(call);
          if (placed === undefined) return undefined;
          if (call.change !== undefined)
            return { placed, hold: undefined, drafted: await changeCall({ home, writer }, placed, call) };
          const asked = await holdCall({ ...parts, writer }, placed, call);
          if (asked.hold !== undefined) branches.hold(placed);
          return { placed, ...asked };
        });
        if (found === undefined || found.hold !== undefined) return found;
        return sendRecorded(found, call, retry);
      });
      if (prepared === undefined) return { kind: 'untouched' };
      if ('kind' in prepared) return prepared;
      const { placed, hold } = prepared;
      if (hold === undefined) throw new Error('a call that nobody holds was sent before');
      const { history, branchId } = placed.branch;
      try {
        const named = { history, branchId, attemptId: call.id, until: hold.until };
        const { how, message } = await held.wait(named, gone);
        const isOver = how === 'timed out' && hold.then === 'abort';
        if (how === 'aborted' || how === 'cancelled' || isOver)
          return {
            kind: 'ended',
            branch: { history, branchId },
            how: how === 'cancelled' ? 'cancelled' : 'aborted',
            message: message ?? ENDED[how === 'aborted' ? 'aborted' : isOver ? 'over' : 'cancelled'],
          };
        return await inOrder(key, () => sendRecorded(prepared, call, retry));
      } finally {
        branches.release(placed);
      }
    });
};

/** A call whose branch is open. */
type Prepared = Asked & { readonly placed: Placed };

/** Resolves when the work has ended, well or not, or after the deadline. */
const endOrDeadline = async (work: Promise<unknown>): Promise<void> => {
  const done = new AbortController();
  const ended = work.then(
    () => undefined,
    () => undefined,
  );
  await Promise.race([ended, sleep(DEADLINE, undefined, { signal: done.signal }).catch(() => undefined)]);
  done.abort();
};

const ENDED = {
  aborted: 'an observer ended the call before it went out',
  over: 'the call was held, and nobody let it go on in time',
  cancelled: 'the client ended the connection while the call was held',
} as const;

/** Calls of one conversation, or of one named history, are prepared one after the other. */
const keyOf = ({ within, said: { messages } }: OutgoingCall): string => {
  if (within !== undefined && !('run' in within)) return JSON.stringify(within);
  return JSON.stringify([within ?? null, messages.slice(0, leadingSystem(messages) + 1)]);
};

/**
 * Lets the log be asked for a while; when it did not answer one call, those that wait behind that one are not held up for as
 * long again.
 */
const openDeadline = (): (<T>(bytes: number, work: () => Promise<T>) => Promise<T>) => {
  let away = -Infinity;
  return async (bytes, work) => {
    if (performance.now() - away < DEADLINE) throw unsteerable('the log does not answer');
    let timer: NodeJS.Timeout | undefined;
    const over = new Promise<never>((_resolve, reject) => {
      timer = setTimeout(
        () => {
          away = performance.now();
          reject(unsteerable('the log does not answer'));
        },
        DEADLINE + bytes / BYTES,
      );
    });
    try {
      return await Promise.race([work(), over]);
    } finally {
      clearTimeout(timer);
    }
  };
};
