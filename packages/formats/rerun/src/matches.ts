import type { WideJson, WideJsonObject } from '@stemma/canonical';
import type { ModelApi } from '@stemma/model-apis';
import type { Difference } from './difference/difference.ts';
import type { Binding, Replacements } from './values/bindings.ts';

/** A call of the agent that runs again. */
export type LiveCall = {
  readonly api: ModelApi;
  /** Where it is sent, without the query. */
  readonly path: string | null;
  /** The request as `parseWideJson` reads it. */
  readonly request: WideJson;
};

/** `other order`: the same as recorded, though a call that was recorded later came first. */
export type ServedHow = 'same' | 'bound' | 'other order';

/** What is to become of a call. `number` counts the calls of the rerun from 0; a repeated one that was stopped keeps its own. */
export type Match =
  | ({ readonly kind: 'serve'; readonly number: number; readonly how: ServedHow } & Served)
  | {
      readonly kind: 'differs';
      readonly number: number;
      readonly difference: Difference;
      /** With `serve`: the answer of the call it stands for. With `stop` and `live`: null. */
      readonly served: Served | null;
    }
  | {
      readonly kind: 'extra';
      readonly number: number;
      /** The recorded call behind which it came; null: behind none. */
      readonly after: string | null;
    }
  | { readonly kind: 'not kept'; readonly number: number; readonly of: string }
  /** It belongs to a conversation that has left the recording. `of`: the recorded call before or at that place. */
  | { readonly kind: 'live'; readonly number: number; readonly of: string | null };

/** Where a conversation left the recording. All its live calls have the same. */
export type LiveStart = {
  /** The number of its first live call. */
  readonly root: number;
  /** The label of a recorded call; null: it has nothing to do with any. */
  readonly of: string | null;
  /** It goes on before that call, or behind it; or it begins: that call led to it. */
  readonly how: 'before' | 'behind' | 'begins';
};

/** A recorded attempt that answers a call. */
export type Served = {
  /** The label of the recorded call. */
  readonly call: string;
  readonly attempt: string;
  /** The place of the attempt among those of the call. */
  readonly index: number;
  readonly bindings: readonly Binding[];
  /** What `replaceInBody` puts into the recorded bytes; `isEmpty`: they are served as they are. */
  readonly replacements: Replacements;
  /** The message that the agent is answered with; null: none. */
  readonly answer: WideJsonObject | null;
};
