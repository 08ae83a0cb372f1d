import { platform } from '#call-platform';
import type { CallReports } from './call-reports.ts';
import type { CallEnding, OpenCall } from './call-recorder.ts';
import type { CallRules } from './call-rules.ts';
import { exchangeHead, exchangeJson, type ExchangeParts } from './exchange-json.ts';
import type { KeptCalls } from './kept-calls.ts';

/** What recording a call needs. */
type CallParts = {
  readonly reports: CallReports;
  readonly rules: CallRules;
  readonly calls: KeptCalls;
  /** Keeps a call that has ended. */
  readonly keep: (id: string, json: string) => void;
  readonly isClosed: () => boolean;
};

/** A call from its beginning to its end. */
export class BegunCall implements OpenCall {
  readonly id: string;
  readonly #parts: CallParts;
  readonly #exchange: ExchangeParts;
  readonly #began = performance.now();
  #head: string | undefined;
  #isOver = false;

  constructor(exchange: ExchangeParts, parts: CallParts) {
    this.id = exchange.id;
    this.#exchange = exchange;
    this.#parts = parts;
    const { rules } = parts;
    // The request goes out first: it is noted while the provider works on it.
    platform.soon(() => {
      if (rules.ready === undefined) this.#noteStart();
      else void rules.ready.then(() => this.#noteStart());
    });
  }

  readonly end = (ending: CallEnding): Promise<void> | undefined => {
    if (this.#isOver) return undefined;
    this.#isOver = true;
    const elapsed = performance.now() - this.#began;
    const { rules } = this.#parts;
    if (rules.ready !== undefined) return rules.ready.then(() => this.#keep(ending, elapsed));
    this.#keep(ending, elapsed);
    return undefined;
  };

  #noteStart(): void {
    const { rules, isClosed, calls } = this.#parts;
    if (this.#isOver || rules.areBroken || isClosed()) return;
    const json = this.#begunJson();
    if (json !== undefined) calls.begin(this.id, json);
  }

  /** The JSON of the call that goes on; undefined if it has none, and will have none when it ends. */
  #begunJson(): string | undefined {
    try {
      return this.#json(null, 0);
    } catch (error) {
      this.#isOver = true;
      this.#parts.reports.lost(error);
      return undefined;
    }
  }

  #keep(ending: CallEnding, elapsed: number): void {
    const { reports, rules, isClosed, keep } = this.#parts;
    try {
      if (rules.areBroken) reports.notRecorded();
      else if (!isClosed()) keep(this.id, this.#json(ending, elapsed));
    } catch (error) {
      reports.lost(error);
    }
  }

  #json(ending: CallEnding | null, elapsed: number): string {
    const { redact } = this.#parts.rules;
    this.#head ??= exchangeHead(this.#exchange, redact);
    return exchangeJson(this.#head, ending, elapsed, redact);
  }
}
