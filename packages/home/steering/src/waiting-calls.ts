import type { Release } from '@stemma/events';
import type { Projection } from '@stemma/projector';
import { findHeldCall } from '@stemma/read-models';
import { recordRelease } from './release-call.ts';
import type { SteeredHome } from './types.ts';

/** How often the log is asked whether held calls were released, in milliseconds. */
const INTERVAL = 100;

/** Milliseconds after its time that a call waits for a log that is away. */
export const GRACE = 3_000;

export type Released = { readonly how: Release; readonly message: string | null };

/** A call that is held until then. */
export type CallToHold = {
  readonly history: string;
  readonly branchId: number;
  readonly attemptId: string;
  readonly until: number;
};

type Waiting = CallToHold & {
  readonly end: (released: Released) => void;
  isAsked: boolean;
};

/** The calls that wait in this process. The log says when one goes on, whoever let it: it is asked again and again. */
export class WaitingCalls {
  readonly #home: SteeredHome;
  readonly #projection: Projection;
  readonly #waiting = new Map<string, Waiting>();
  #timer: NodeJS.Timeout | undefined;

  constructor(home: SteeredHome, projection: Projection) {
    this.#home = home;
    this.#projection = projection;
  }

  has(attemptId: string): boolean {
    return this.#waiting.has(attemptId);
  }

  /** Resolves when the call was released, or its time is over, or its client is gone. */
  add({ history, branchId, attemptId, until }: CallToHold, gone: AbortSignal): Promise<Released> {
    return new Promise<Released>((resolve) => {
      const call: Waiting = { history, branchId, attemptId, until, isAsked: false, end: resolve };
      this.#waiting.set(attemptId, call);
      const leave = (): void => {
        void recordRelease(this.#home, call, 'cancelled').catch(() => undefined);
        this.#end(call, { how: 'cancelled', message: null });
      };
      if (gone.aborted) leave();
      else gone.addEventListener('abort', leave, { once: true });
      this.#schedule();
    });
  }

  close(): void {
    clearTimeout(this.#timer);
    for (const call of this.#waiting.values()) this.#end(call, { how: 'cancelled', message: null });
  }

  #end(call: Waiting, released: Released): void {
    if (!this.#waiting.delete(call.attemptId)) return;
    call.end(released);
  }

  #schedule(): void {
    if (this.#waiting.size > 0) this.#timer ??= setTimeout(() => void this.#askForAll(), INTERVAL);
  }

  async #askForAll(): Promise<void> {
    try {
      await this.#home.catchUp();
    } catch {
      // The log is away: those whose time is over go on.
    }
    await Promise.all([...this.#waiting.values()].map((call) => this.#ask(call).catch(() => undefined)));
    this.#timer = undefined;
    this.#schedule();
  }

  async #ask(call: Waiting): Promise<void> {
    const now = Date.now();
    if (now > call.until + GRACE) {
      this.#end(call, { how: 'timed out', message: null });
      return;
    }
    if (now >= call.until && !call.isAsked) {
      call.isAsked = true;
      await recordRelease(this.#home, call, 'timed out').catch(() => (call.isAsked = false));
      return;
    }
    const row = await this.#projection.read((rows) => findHeldCall(rows, call.history, call.attemptId));
    if (row?.released != null) this.#end(call, row.released);
  }
}
