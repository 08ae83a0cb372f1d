import type { CallRecorderStatus } from './status.ts';
import { textOf } from './open-sender.ts';
import type { Warnings } from './warnings.ts';

/** Counts what becomes of calls, and says what is wrong. */
export class CallReports {
  readonly #warnings: Warnings;
  /** The name of what the calls go to. */
  readonly #target: string;
  /** The most bytes that may wait. */
  readonly #limit: number;
  readonly #counts = { recorded: 0, dropped: 0, refused: 0 };
  #lastError: string | null = null;

  constructor(warnings: Warnings, target: string, limit: number) {
    this.#warnings = warnings;
    this.#target = target;
    this.#limit = limit;
  }

  status(): Pick<CallRecorderStatus, 'recorded' | 'dropped' | 'refused' | 'lastError'> {
    return { ...this.#counts, lastError: this.#lastError };
  }

  /** It was recorded. @param warning why it is recorded elsewhere than it was asked */
  readonly recorded = (warning: string | null): void => {
    this.#counts.recorded++;
    this.#lastError = null;
    this.#warnings.clear('away');
    if (warning !== null) this.#warnings.say(warning, warning);
  };

  readonly refused = (reason: string): void => {
    this.#counts.refused++;
    this.#fault('refused', reason, `a call cannot be recorded: ${reason}`);
  };

  readonly away = (reason: string): void =>
    this.#fault(
      'away',
      reason,
      `${this.#target} takes no calls now (${reason}): they wait, and are sent later`,
    );

  readonly damaged = (reason: string): void =>
    this.#fault('damaged', reason, `a call that waited cannot be sent: ${reason}`);

  damagedFile(file: string): void {
    this.#fault(
      'damaged',
      `${file} is damaged`,
      `a call that waited is damaged, and is not recorded: ${file}`,
    );
  }

  /** The disk takes none. */
  inMemory(error: unknown): void {
    this.#fault(
      'memory',
      textOf(error),
      `calls cannot be kept on disk (${textOf(error)}): they wait in memory, and are lost if the process ends`,
    );
  }

  noRoom(): void {
    this.#counts.dropped++;
    this.#fault(
      'room',
      'there is no room',
      `calls are not recorded: ${this.#limit} bytes of calls wait already`,
    );
  }

  lost(error: unknown): void {
    this.#counts.dropped++;
    this.#fault('fault', textOf(error), `a call was not recorded: ${textOf(error)}`);
  }

  /** A call that rules keep from being recorded. */
  notRecorded(): void {
    this.#counts.dropped++;
  }

  noRules(error: unknown): void {
    this.#fault('rules', textOf(error), `no call is recorded: ${textOf(error)}`);
  }

  /** What others left cannot be read now. */
  notTakenOver(error: unknown): void {
    this.#lastError = textOf(error);
  }

  #fault(kind: string, reason: string, sentence: string): void {
    this.#lastError = reason;
    this.#warnings.say(kind, sentence);
  }
}
