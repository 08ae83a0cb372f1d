/** When a batch is committed: as soon as one of these is reached. */
export type BatchLimits = {
  /** Default: no limit. */
  readonly frames?: number;
  /** Bytes of frames. Default 8 MiB. */
  readonly bytes?: number;
  /** Default 50,000. */
  readonly rows?: number;
  /** Default 500. */
  readonly milliseconds?: number;
};

/** True if a batch of this size, whose first frame came `age` milliseconds ago, is committed. */
export const fullBatch = (
  limits: BatchLimits,
  batch: { readonly frames: number; readonly bytes: number; readonly rows: number; readonly age: number },
): boolean =>
  batch.frames >= (limits.frames ?? Infinity) ||
  batch.bytes >= (limits.bytes ?? 8 * 1024 * 1024) ||
  batch.rows >= (limits.rows ?? 50_000) ||
  batch.age >= (limits.milliseconds ?? 500);
