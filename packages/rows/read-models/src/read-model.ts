import type { Fold } from '@stemma/history-store';

/** An optional fold, run where it is configured; {@link Fold} has its rules. It reads no other read model's rows. */
export type ReadModel = Fold & {
  /** True: where whoever reads can also fold, a history is folded when somebody asks for it, not with every frame. */
  readonly onDemand?: boolean;
};
