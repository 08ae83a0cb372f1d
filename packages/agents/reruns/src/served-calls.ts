import type { CallChange } from '@stemma/home';
import type { ModelApi } from '@stemma/model-apis';

/** A request of an agent that runs again. */
export type AskedCall = {
  readonly api: ModelApi;
  readonly method: string;
  /** Without the query. */
  readonly path: string;
  /** The content coding of the body. */
  readonly coding: string | null;
  readonly body: Uint8Array;
};

/** How a call that went to its provider ended. */
export type LiveEnd = {
  readonly api: ModelApi;
  /** Null: no answer came. */
  readonly httpStatus: number | null;
  readonly contentType: string | null;
  readonly coding: string | null;
  readonly body: Uint8Array;
};

/** What a call is answered with. */
export type CallReply =
  | {
      readonly kind: 'served';
      readonly status: number;
      readonly headers: Readonly<Record<string, string>>;
      /** The body in the pieces in which it is sent. */
      readonly pieces: readonly Uint8Array[];
      /** True: the connection ends behind the last piece, as the recorded one did. */
      readonly isCut: boolean;
    }
  /**
   * It goes to its provider, or to another address, and is recorded in this history and branch. `number`: for `liveEnded`.
   * `change`: what is changed of it before.
   */
  | {
      readonly kind: 'live';
      readonly place: string;
      readonly number: number;
      readonly change?: CallChange;
      readonly to?: LiveUpstream;
    };

/** Where a call goes instead of its provider: the headers hold the key for it. */
export type LiveUpstream = { readonly url: URL; readonly headers: Readonly<Record<string, string>> };

/** Answers the calls of an agent that runs again. */
export type ServedCalls = {
  readonly reply: (call: AskedCall) => Promise<CallReply>;
  /** Answers a call without messages; undefined: nothing recorded stands for it. */
  readonly replyToProviderCall: (
    call: Pick<AskedCall, 'method' | 'path' | 'body'>,
  ) => Promise<Extract<CallReply, { readonly kind: 'served' }> | undefined>;
  /** A call that went to its provider was answered. */
  readonly liveEnded: (number: number, end: LiveEnd) => Promise<void>;
  /** True if a request that is no call of a model, and that nothing recorded stands for, goes to its provider. */
  readonly passes: (method: string, path: string) => boolean;
};
