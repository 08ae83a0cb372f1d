import type { ExchangeRequest } from '@stemma/api';
import type { CallScopeOptions } from './options.ts';
import type { CallRecorderStatus } from './status.ts';

export type ExchangeResponse = NonNullable<NonNullable<ExchangeRequest['end']>['response']>;
type WireStart = Omit<Extract<ExchangeRequest['request'], { form: 'wire' }>, 'body' | 'coding'> & {
  /** Null: nobody has it. */
  readonly body: readonly Uint8Array[] | string | null;
};
type SaidStart = Extract<ExchangeRequest['request'], { form: 'said' }>;

/** A request that goes out. */
export type CallStart = WireStart | SaidStart;

type WireEnd = Omit<Extract<ExchangeResponse, { form: 'wire' }>, 'body' | 'coding'> & {
  readonly body: readonly Uint8Array[] | null;
};
type SaidEnd = Extract<ExchangeResponse, { form: 'said' }>;

/** How a call ended. */
export type CallEnding = Pick<NonNullable<ExchangeRequest['end']>, 'status' | 'error'> & {
  readonly response: WireEnd | SaidEnd | null;
  /** Milliseconds since it began, unless they are measured: null, if there was no first byte. */
  readonly first_byte_ms: number | null;
  readonly duration_ms?: number;
};

/** A call that is being recorded. */
export type OpenCall = {
  readonly id: string;
  /** What it returns resolves when the call is kept; undefined: it is. Throws nothing; only the first end counts. */
  end(ending: CallEnding): Promise<void> | undefined;
};

/** Records calls. None of its functions throws or rejects. */
export type CallRecorder = {
  /** @param sentAt when the request began to go out, in milliseconds since 1970; default: now */
  begin(start: CallStart, scope: CallScopeOptions, sentAt?: number): OpenCall;
  /** Resolves when everything is recorded, or when the time (5,000 ms) is over: then false. */
  flush(options?: { readonly timeout?: number }): Promise<boolean>;
  /** As `flush`; then records nothing any more. What waits is sent by the next process. */
  close(options?: { readonly timeout?: number }): Promise<boolean>;
  status(): CallRecorderStatus;
};
