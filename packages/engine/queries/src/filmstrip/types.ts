import type { CallStatus, InterventionType } from '@stemma/events';
import type { RoleTokens } from '@stemma/read-models';

/** A tool that a call asked for. */
export type FilmTool = {
  /** Empty: its result came, and nobody knows of which call. */
  readonly name: string;
  /** `called`: no result is recorded. */
  readonly state: 'called' | 'answered' | 'failed';
};

/** What a model decided when it was called: texts, and calls of tools. */
export type FilmDecision = { readonly said: number; readonly tools: readonly FilmTool[] };

/** Messages that came or left, in messages and tokens. */
export type FilmChange = { readonly messages: number; readonly tokens: number };

/** One call of a history, as the filmstrip shows it. */
export type FilmCell = {
  readonly branchId: number;
  readonly seq: number;
  readonly cycle: number;
  /** When its snapshot was recorded, milliseconds since 1970. */
  readonly at: number;
  /** What it was shown. */
  readonly messages: number;
  readonly tokens: number;
  readonly roles: RoleTokens;
  /** Since the call before, by the ids of messages. Null: the thread is not full, and nobody counts its tokens. */
  readonly came: FilmChange | null;
  readonly left: FilmChange | null;
  /** Messages were removed in favour of others: by the agent, two at least, or by the policy while a summary came. */
  readonly compacted: boolean;
  /** Null: nothing that follows it shows an answer. */
  readonly decided: FilmDecision | null;
  /** The newest attempt to call the model, and how many there were; null: no call is recorded with it. */
  readonly call: { readonly attempts: number; readonly status: CallStatus | null } | null;
  /** What people did before it that no earlier call of the branch was shown. */
  readonly interventions: readonly {
    readonly id: string;
    readonly type: InterventionType;
    readonly actor: string;
  }[];
};

/** The cell after which a page begins: cells are in the order of branches, and on a branch in that of calls. */
export type FilmCursor = { readonly branchId: number; readonly cycle: number };

export type FilmPage = { readonly cells: readonly FilmCell[]; readonly next: FilmCursor | null };

export type Filmstrip = {
  /** The calls of all branches of a history, each once, a page at a time. */
  page(history: string, options: { readonly after?: FilmCursor; readonly limit: number }): Promise<FilmPage>;
};
