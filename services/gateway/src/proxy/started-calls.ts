import type { CallStatus } from '@stemma/events';
import { LRUCache } from 'lru-cache';
import type { AskedScope, CallBranch } from './entry.ts';

/** Where a call is recorded, and whether its end is, too. */
export type StartedCall = {
  readonly where: CallBranch;
  readonly isEnded: boolean;
  readonly status?: CallStatus;
};

/** Calls without an end of which it is remembered where they are recorded. */
const MOST_OPEN = 20_000;

/** The calls that are recorded, or just being recorded, and whose end is to come. */
export class StartedCalls {
  /** One that is forgotten says itself, with its end, where its beginning is. */
  readonly #started = new LRUCache<
    string,
    { readonly place: AskedScope; readonly recorded: Promise<StartedCall> }
  >({ max: MOST_OPEN });
  /** Steered calls that are being recorded. */
  readonly #steered = new Map<string, Promise<unknown>>();

  add(id: string, place: AskedScope, recorded: Promise<StartedCall>): void {
    this.#started.set(id, { place, recorded });
  }

  addSteered(id: string, recorded: Promise<unknown>): void {
    this.#steered.set(id, recorded);
  }

  /** Where the conversation of a call is looked for; undefined: nothing is known of its start. */
  placeOf(id: string): AskedScope | undefined {
    return this.#started.get(id)?.place;
  }

  /** Resolves when the start is recorded, and forgets the call: its end is here. @returns undefined if nothing is known of its start */
  async take(id: string): Promise<StartedCall | undefined> {
    const started = await this.#started.get(id)?.recorded;
    this.#started.delete(id);
    await this.#steered.get(id);
    this.#steered.delete(id);
    return started;
  }
}
