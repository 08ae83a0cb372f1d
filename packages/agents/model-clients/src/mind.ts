import type { WideJson } from '@stemma/canonical';
import type { ErrorCode } from '@stemma/errors';
import type { CallStatus, ResponseHead } from '@stemma/events';
import type { ModelAnswer, ModelApi } from '@stemma/model-apis';

/** The form of a mind's requests and answers. */
export type MindApi = Exclude<ModelApi, 'other'>;

/** How one try to get an answer ended. Times are milliseconds since the request was sent. */
export type MindAttempt = {
  readonly status: Exclude<CallStatus, 'unknown'>;
  readonly httpStatus: number | null;
  /** The body as it came; null: none came, or too much. */
  readonly response: Uint8Array | null;
  /** What the head of the answer says; null: none came. */
  readonly head: ResponseHead | null;
  /** What the body says; null: there is none. */
  readonly answer: ModelAnswer | null;
  /** When the request began to go out: milliseconds since 1970; null: it did not. */
  readonly sentAt: number | null;
  readonly firstByteMs: number | null;
  readonly durationMs: number;
  /** Null if it was answered. */
  readonly error: { readonly code: ErrorCode; readonly message: string } | null;
  /** Whether another try may help, and how many milliseconds the server asks to wait. */
  readonly retry: { readonly after: number | null } | null;
};

/** Where the requests of a mind go. */
export type MindTarget = {
  /** Scheme, host and port. */
  readonly origin: string;
  readonly path: string;
  /** True if the name of the mind says the address, or a variable of Stemma's own does. */
  readonly isNamed: boolean;
};

/** A language model that can be asked. */
export type Mind = {
  /** As it was named: `openai:gpt-x`, `offline`. It holds no key. */
  readonly spec: string;
  readonly api: MindApi;
  readonly model: string;
  /** Where its requests go; null: they go nowhere. */
  readonly target: MindTarget | null;
  /**
   * Sends a body once, when the limits of the mind allow it. It never throws: what goes wrong is in the attempt.
   *
   * @param request a body in the form of `api`
   */
  readonly attempt: (request: Uint8Array, signal: AbortSignal) => Promise<MindAttempt>;
};

/** What minds need of the process around them. */
export type MindSurroundings = {
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly now: () => number;
  /** Resolves after so many milliseconds. @throws when the signal aborts */
  readonly sleep: (milliseconds: number, signal: AbortSignal) => Promise<void>;
  /** From 0 up to 1. */
  readonly random: () => number;
};

/** A question in the words of the port, whatever the mind's API is. */
export type MindQuestion = {
  /** In the form of OpenAI's chat API. */
  readonly messages: readonly { readonly [name: string]: WideJson }[];
  /** As the mind's API calls them. */
  readonly parameters?: { readonly [name: string]: WideJson };
  readonly tools?: readonly WideJson[];
  /** For minds that take one: the same question with the same seed has the same answer. */
  readonly seed?: number;
};
