import type { AppliedFrame } from '@stemma/history';
import type { Rows } from '@stemma/row-store';
import type { ReadModel } from '../read-model.ts';
import { countBranch, countHistory, noteFrame, noteLabels, notePositions } from './branches/fold.ts';
import { BRANCH_TABLES } from './branches/tables.ts';
import { foldCalls } from './calls/fold.ts';
import { CALL_TABLES } from './calls/tables.ts';
import { foldEffects } from './effects/fold.ts';
import { EFFECT_TABLES } from './effects/tables.ts';
import { foldImports } from './imports/fold.ts';
import { IMPORT_TABLES } from './imports/tables.ts';
import { foldIntervention, foldObservations } from './interventions/fold.ts';
import { INTERVENTION_TABLES } from './interventions/tables.ts';
import { foldProviderCalls } from './provider-calls/fold.ts';
import { PROVIDER_CALL_TABLES } from './provider-calls/tables.ts';
import { foldRuns } from './runs/fold.ts';
import { RUN_TABLES } from './runs/tables.ts';
import { foldSteering } from './steering/fold.ts';
import { STEERING_TABLES } from './steering/tables.ts';

/*
 * One read model of eight subjects, each with its tables, its fold and its queries in a folder. They share a version and a
 * cursor: an intervention is written into the row of its history and read from that of its branch, and read models of their own
 * would read no rows of each other.
 */

/** An intervention names the position before it: the branch's counts move on afterwards. */
const fold = (frame: AppliedFrame, rows: Rows): void => {
  noteFrame(frame, rows);
  countHistory(frame, rows);
  foldIntervention(frame, rows);
  countBranch(frame, rows);
  foldCalls(frame, rows);
  foldSteering(frame, rows);
  foldRuns(frame, rows);
  foldEffects(frame, rows);
  foldProviderCalls(frame, rows);
  foldImports(frame, rows);
  notePositions(frame, rows);
  noteLabels(frame, rows);
};

/** Observations count for the history, and for no branch. */
const observe = (frame: AppliedFrame, rows: Rows): void => {
  noteFrame(frame, rows);
  countHistory(frame, rows);
  foldObservations(frame, rows);
};

/** Histories, their branches and snapshots: who, when, by which command, under which names; interventions, observations, calls. */
export const audit: ReadModel = {
  name: 'audit',
  version: 20,
  tables: [
    ...BRANCH_TABLES,
    ...INTERVENTION_TABLES,
    ...CALL_TABLES,
    ...STEERING_TABLES,
    ...RUN_TABLES,
    ...EFFECT_TABLES,
    ...PROVIDER_CALL_TABLES,
    ...IMPORT_TABLES,
  ],
  fold,
  observe,
};
