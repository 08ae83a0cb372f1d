/** The prompt of one call: how much of it the call before was shown already, and the messages that follow. */
export type CallPrompt = {
  /** `@c12`: the reference of its snapshot on this branch. */
  readonly label: string;
  readonly cycle: number;
  readonly seq: number;
  /** SHA-256 in hex, as `snapshots` lists it. */
  readonly threadHash: string;
  /** The attempts to call a model with it; 0: no call stands behind it. Null: of this history no call is recorded. */
  readonly calls: number | null;
  /** Messages of the whole prompt. */
  readonly messages: number;
  /** Messages at its beginning that are byte for byte those of the call before; 0 in the first call. */
  readonly shared: number;
  /** The messages after those, each as its canonical JSON (context-tree §4). */
  readonly following: readonly string[];
};

export type CallsOptions = {
  /** Only calls after this cycle. Default: all. */
  readonly after?: number;
};
