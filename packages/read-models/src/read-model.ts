import type { Fold } from '@stemma/history-store';

/** An optional fold, run where it is configured; {@link Fold} has its rules. It reads no other read model's rows. */
export type ReadModel = Fold;
