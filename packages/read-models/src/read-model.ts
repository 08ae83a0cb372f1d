import type { Fold } from '@stemma/history-store';

/** What is folded only where somebody asks for it; {@link Fold} has its rules. It reads no other read model's rows. */
export type ReadModel = Fold;
