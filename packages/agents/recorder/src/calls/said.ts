/** A call that a program is about to make, in the form of OpenAI's chat API. */
export type SaidCall = {
  readonly messages: readonly object[];
  readonly model?: string;
  readonly tools?: readonly object[];
  /** Everything else that is sent: temperature, limits. */
  readonly parameters?: object;
};

/** What came back. One of `answer` and `error`. */
export type SaidAnswer = {
  /** The message of the answer: `{role: 'assistant', content}`; or its text. */
  readonly answer?: object | string;
  readonly error?: unknown;
  /** By default `answered` with an answer, else `failed`. */
  readonly status?: 'answered' | 'failed' | 'cancelled' | 'timed out';
  readonly model?: string;
  readonly finishReason?: string;
  /** The name by which a later call goes on from the answer (`previous_response_id`), if its provider keeps it. */
  readonly answerId?: string;
  readonly usage?: {
    readonly input?: number | null;
    readonly output?: number | null;
    readonly cached?: number | null;
    readonly cacheWrite?: number | null;
    /** Of `cacheWrite`: kept for an hour. */
    readonly cacheWrite1h?: number | null;
    readonly reasoning?: number | null;
  };
  /** Milliseconds from the call to the first byte, and to the end; by default the time since `recordCall`. */
  readonly firstByteMs?: number;
  readonly durationMs?: number;
};
