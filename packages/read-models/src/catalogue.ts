import { diffs } from './diffs/diffs.ts';
import { lineage } from './lineage/lineage.ts';
import type { ReadModel } from './read-model.ts';
import { snapshots } from './snapshots/snapshots.ts';
import { stages } from './stages/stages.ts';

/** Every read model: a folder beside this file, and a line here (CONTRIBUTING.md). */
export const READ_MODELS: readonly ReadModel[] = [snapshots, lineage, diffs, stages];
