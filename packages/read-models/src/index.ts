export { ALL_FOLDS, READ_MODELS } from './catalogue.ts';
export { changedParts } from './diffs/changed-parts.ts';
export { explainDiff, type ExplainedEntry, type WayMoment } from './diffs/explain.ts';
export { presenceOf } from './diffs/presence.ts';
export { type Moment, nodesTouched, timelineOf, touchesOfNode } from './diffs/timeline.ts';
export { cycleSeen, type Vista, vistaFrom } from './diffs/vista.ts';
export {
  findIntervention,
  type InterventionQuery,
  type InterventionRow,
  listInterventions,
  listObservations,
} from './lineage/interventions.ts';
export { lineage } from './lineage/lineage.ts';
export {
  type Act,
  authorOf,
  findAct,
  findHistory,
  findLineage,
  type HistoryRow,
  type LineageRow,
  listActs,
  listCommits,
  listHistories,
  listLineages,
  listNames,
  listNotes,
  listNotesAt,
  type NamedRow,
} from './lineage/queries.ts';
export { INTERVENTIONS } from './lineage/tables.ts';
export type { ReadModel } from './read-model.ts';
export type { StageNode } from './stages/node-row.ts';
export { payloadFrame, payloadOf } from './stages/payload-of.ts';
export { countStream, findStages, framesNodes, listStream } from './stages/queries.ts';
export { stages } from './stages/stages.ts';
