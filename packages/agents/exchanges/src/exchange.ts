import type { UnkeptBody } from '@stemma/call-bodies';
import type { WideJson } from '@stemma/canonical';
import type { Author, CallFidelity, CallStatus, CallUsage } from '@stemma/events';

/** Where the conversation of a call is looked for: a run of a program, or what a client named (`HISTORY[:BRANCH]`). */
export type ExchangeScope = { readonly run: string } | { readonly name: string } | null;

/** A request as it went out. */
type WireRequest = {
  readonly form: 'wire';
  readonly method: string;
  /** Without the query, which may hold a key. */
  readonly path: string;
  /** Scheme, host and port; null: not known. */
  readonly origin?: string | null | undefined;
  readonly contentType?: string | null | undefined;
  readonly coding: string | null;
  /** A hash of the session that its headers name; undefined: none does. */
  readonly session?: string | undefined;
  /** Of one that is too large to be kept, its hash and size; null: nobody has it. */
  readonly body: Uint8Array | UnkeptBody | null;
};

/** What a program says that it asked: no bytes are known. */
type SaidRequest = {
  readonly form: 'said';
  readonly model: string | null;
  readonly messages: readonly WideJson[];
  readonly parameters: { readonly [name: string]: WideJson };
  /** Null: not known. */
  readonly tools: readonly WideJson[] | null;
};

type WireResponse = {
  readonly form: 'wire';
  readonly httpStatus: number;
  readonly retryAfter?: string | null | undefined;
  readonly contentType: string | null;
  readonly coding: string | null;
  /** As far as it came; of one that is too large to be kept, its hash and size; null: nobody has it. */
  readonly body: Uint8Array | UnkeptBody | null;
};

type SaidAnswer = {
  readonly form: 'said';
  /** The message of the answer, as a chat API has it; null: there is none. */
  readonly answer: WideJson | null;
  readonly finishReason: string | null;
  readonly model: string | null;
  readonly usage: CallUsage | null;
  /** The name by which a later request goes on from it; by default its provider keeps nothing. */
  readonly answerId?: string | null;
};

/** A request to a model. */
export type ExchangeStart = {
  /** Of the attempt, and of the command that records it. */
  readonly id: string;
  readonly by: Author;
  readonly scope: ExchangeScope;
  /** The run of a program that made it, where its scope does not say so; undefined: not known. */
  readonly run?: string | undefined;
  readonly request: WireRequest | SaidRequest;
  /** When it began to go out, by the recorder's clock: milliseconds since 1970; null: not known then. */
  readonly sentAt?: number | null | undefined;
  /** How true its picture is, where a file told of it; undefined: its recorder was there. */
  readonly fidelity?: CallFidelity | undefined;
};

/** How it ended. Times are milliseconds since the request was sent. */
export type ExchangeEnd = {
  readonly status: CallStatus;
  /** When the request began to go out, if its start was noted before. */
  readonly sentAt?: number | null | undefined;
  readonly firstByteMs: number | null;
  readonly durationMs: number | null;
  readonly error: { readonly code: string | null; readonly message: string } | null;
  /** Null: none came. */
  readonly response: WireResponse | SaidAnswer | null;
};

/** A request, and how it ended; null: nobody knows. */
export type Exchange = ExchangeStart & { readonly end: ExchangeEnd | null };
