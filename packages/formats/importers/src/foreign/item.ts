import type { WideJson, WideJsonObject } from '@stemma/canonical';
import type { CallStatus, CallUsage } from '@stemma/events';
import type { WarningCode } from '../warnings.ts';

/**
 * What a program wrote of a conversation with a model, in the order of its file. A reader of a format gives these; what they
 * are recorded as, and how they are counted, is the same for all formats ({@link foreignImporter}).
 *
 * ```
 * { kind: 'conversation', key: 'session-1', title: 'Late parcel', version: '2.1.7' }
 * { kind: 'message', id: 'u1', role: 'user', messages: [{ role: 'user', content: 'Where is my parcel?' }] }
 * { kind: 'call', id: 'a1', model: 'claude-x', answer: { role: 'assistant', content: 'I look.' }, usage: {…}, missing: ['tools'] }
 * ```
 */
export type ForeignItem =
  | ForeignConversation
  | ForeignMessage
  | ForeignCall
  | ForeignExchange
  | ForeignCompaction
  | ForeignSubAgent
  | ForeignVersion
  | ForeignCount
  | ForeignTime
  | ForeignDropped
  | ForeignWarning;

/** A conversation begins, or one that began before goes on. Items belong to the last one that is named. */
export type ForeignConversation = {
  readonly kind: 'conversation';
  /**
   * Its name in the file: unique there, and not that of another conversation in another file. Null: the file does not name it, and it is
   * told from others by how it begins.
   */
  readonly key: string | null;
  /** What a person would call it; a later one counts if the conversation goes on. */
  readonly title?: string | undefined;
  /** Of the program, or of the format: what the file says. */
  readonly version?: string | undefined;
  /** The conversation with the call that led to it: of a sub-agent, by the id of the tool call that it works for if the file says it. */
  readonly parent?: { readonly key: string; readonly toolCall?: string | undefined } | undefined;
  /** True if it runs beside another one of its file, or of a file beside it. */
  readonly sidechain?: boolean | undefined;
};

/** The version of the program that wrote the file, or of its format, where its calls hold their whole input and need no conversation. */
export type ForeignVersion = { readonly kind: 'version'; readonly version: string };

/** Where an item goes on: by the ids of messages and calls of its conversation. */
type Following = {
  /** By which later items name it. */
  readonly id?: string | undefined;
  /**
   * The id of the message or call that it follows; null: none, it stands at the beginning. Absent: the one before. Where another
   * one follows the same already, it begins a branch.
   */
  readonly after?: string | null | undefined;
  /** Milliseconds since 1970, as the file says; absent: it does not. */
  readonly at?: number | undefined;
};

/** A message that is no answer of a model. */
export type ForeignMessage = Following & {
  readonly kind: 'message';
  /** As the file calls it: it is counted under this role. */
  readonly role: string;
  /**
   * As the chat API has it, whose form `chatMessageAt` takes: tool results are messages of role `tool` of their own (`is_error: true`
   * where they failed), parts keep what other APIs know (`thinking`, `image` …).
   */
  readonly messages: readonly WideJsonObject[];
  /** True if the file says it once more: it is shown again, and was counted. */
  readonly again?: boolean | undefined;
};

/** A call of a model: it is shown what stands before it in its conversation. */
export type ForeignCall = Following & {
  readonly kind: 'call';
  readonly model: string | null;
  /** The message of the answer; null: there is none. */
  readonly answer: WideJsonObject | null;
  /**
   * What was there of the answer when each of its lines was written, where it comes in several: a file may end with any of them, and
   * grow. At most {@link MOST_PARTS}; absent: it comes in one.
   */
  readonly soFar?: readonly WideJsonObject[] | undefined;
  readonly status?: CallStatus | undefined;
  readonly finishReason?: string | null | undefined;
  readonly usage?: CallUsage | null | undefined;
  /** The same as the file states it, where its `input` does not hold what was read from a cache: the report sums what is stated. */
  readonly stated?: CallUsage | null | undefined;
  readonly durationMs?: number | null | undefined;
  readonly error?: { readonly code: string | null; readonly message: string } | null | undefined;
  readonly parameters?: { readonly [name: string]: WideJson } | undefined;
  readonly tools?: readonly WideJson[] | null | undefined;
  /** `same`: the file has every message that the model was shown; by default they are reconstructed from the conversation. */
  readonly fidelity?: 'same' | 'reconstructed' | undefined;
  /** What the model was shown, or asked with, and the file does not have. */
  readonly missing?: readonly MissingPart[] | undefined;
  /** True if the file ends while it is coming: it is counted, and recorded when the file has grown. */
  readonly isComing?: boolean | undefined;
  /** True if somebody stopped it. */
  readonly aborted?: boolean | undefined;
};

/** An answer of more lines is inserted in so many pieces, and the rest in one. */
export const MOST_PARTS = 100;

/** What a file may lack of a call. */
export const MISSING_PARTS = ['system prompt', 'tools', 'parameters', 'messages', 'answer', 'usage'] as const;
export type MissingPart = (typeof MISSING_PARTS)[number];

/** The same without what the end of a call says: of a file that grows, it may come later. */
export const missingAtStart = (missing: readonly MissingPart[] | undefined): string[] =>
  (missing ?? []).filter((part) => part !== 'answer' && part !== 'usage');

/**
 * A call with all that it was asked: the recorder finds the conversation that it goes on, as it does for a call that passes the proxy
 * (calls §3). A file of such items needs no conversations, and is a run of its own; a conversation
 * that is named is their run. Calls of different runs never meet.
 */
export type ForeignExchange = {
  readonly kind: 'exchange';
  /** Unique in the file, and always the same for the same bytes. */
  readonly id: string;
  readonly at?: number | undefined;
  readonly request: ForeignWireRequest | ForeignSaidRequest;
  readonly end: {
    readonly status: CallStatus;
    readonly durationMs: number | null;
    readonly firstByteMs?: number | null | undefined;
    readonly error: { readonly code: string | null; readonly message: string } | null;
    /** Null: none came. */
    readonly response: ForeignWireResponse | ForeignSaidAnswer | null;
  } | null;
  /** `exact`: the bytes of request and answer; `same`: every message; `reconstructed`: some were put together. */
  readonly fidelity: 'exact' | 'same' | 'reconstructed';
  readonly missing?: readonly MissingPart[] | undefined;
};

export type ForeignWireRequest = {
  readonly form: 'wire';
  readonly method: string;
  /** Without the query, which may hold a key. */
  readonly path: string;
  /** Scheme, host and port. */
  readonly origin: string | null;
  readonly contentType: string | null;
  /** The content coding of the body as it stands here. */
  readonly coding: string | null;
  readonly body: Uint8Array;
};

export type ForeignWireResponse = {
  readonly form: 'wire';
  readonly httpStatus: number;
  readonly contentType: string | null;
  readonly coding: string | null;
  readonly body: Uint8Array;
};

export type ForeignSaidRequest = {
  readonly form: 'said';
  readonly model: string | null;
  /** All that the model was shown, as the chat API has it. */
  readonly messages: readonly WideJsonObject[];
  readonly parameters: { readonly [name: string]: WideJson };
  /** Null: not known. */
  readonly tools: readonly WideJson[] | null;
};

export type ForeignSaidAnswer = {
  readonly form: 'said';
  /** As the chat API has it; null: there is none. */
  readonly answer: WideJsonObject | null;
  readonly finishReason: string | null;
  /** That answered; null: the one that was asked. */
  readonly model: string | null;
  readonly usage: CallUsage | null;
};

/** The conversation so far is left out from here on: what follows stands in its place (a summary). */
export type ForeignCompaction = Following & {
  readonly kind: 'compaction';
  /** Ids of messages and calls that stay; by default none but the system's messages. */
  readonly keeps?: readonly string[] | undefined;
  /** True if the system's messages leave too where `keeps` does not name them. */
  readonly ofSystem?: boolean | undefined;
};

/** A tool call of the conversation started another one, of this file or of one beside it. */
export type ForeignSubAgent = {
  readonly kind: 'sub-agent';
  /** The key of the conversation that it started. */
  readonly key: string;
  readonly toolCall: string;
};

/** Something else that is counted: an answer that somebody stopped, where no call says so. */
export type ForeignCount = { readonly kind: 'count'; readonly what: 'aborted'; readonly count?: number };

/** A time that the file has beside its messages and calls: it may be the earliest or the latest. */
export type ForeignTime = { readonly kind: 'time'; readonly at: number | undefined };

/** Something of the file that is recorded nowhere, by its name there: `line file-history-snapshot`, `field requestId`. */
export type ForeignDropped = { readonly kind: 'dropped'; readonly what: string; readonly count?: number };

/** What a person should know. */
export type ForeignWarning = { readonly kind: 'warning'; readonly code: WarningCode; readonly where: string };
