import type { AskedScope } from './entry.ts';

/** A call whose end is being recorded. */
type Ending = {
  /** Milliseconds since 1970; null: before everything that comes after it. */
  readonly at: number | null;
  readonly recorded: Promise<unknown>;
};

/**
 * Calls that have ended and are being recorded. A call that began after the end of another may go on from its answer, so it is
 * placed when that answer is recorded, however fast its client is; calls at the same time do not wait for each other.
 */
export class EndedCalls {
  readonly #endings = new Map<string, Set<Ending>>();

  /** @param at when it ended, in milliseconds since 1970; null: before whatever is recorded next */
  add(place: AskedScope, at: number | null, work: Promise<unknown>): void {
    const key = keyOf(place);
    const endings = this.#endings.get(key) ?? new Set<Ending>();
    this.#endings.set(key, endings);
    const recorded = work
      .catch(() => undefined)
      .finally(() => {
        endings.delete(ending);
        if (endings.size === 0 && this.#endings.get(key) === endings) this.#endings.delete(key);
      });
    const ending = { at, recorded };
    endings.add(ending);
  }

  /**
   * Resolves when those are recorded, or refused, that had ended when a call began.
   *
   * @param began milliseconds since 1970; null: not known
   * @returns undefined if there are none
   */
  before(place: AskedScope, began: number | null): Promise<unknown> | undefined {
    const waited = [...(this.#endings.get(keyOf(place)) ?? [])]
      .filter(({ at }) => at === null || began === null || at <= began)
      .map(({ recorded }) => recorded);
    return waited.length === 0 ? undefined : Promise.all(waited);
  }
}

/** Calls are looked for among those of one run, of one history, or of neither. */
const keyOf = (place: AskedScope): string => {
  if (place === null) return '';
  return 'run' in place ? `run ${place.run}` : `name ${place.name}`;
};
