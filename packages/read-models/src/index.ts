export { changedParts } from './diffs/changed-parts.ts';
export { READ_MODELS } from './catalogue.ts';
export { explainDiff, type Explained, type ExplainedEntry, type WayMoment } from './diffs/explain.ts';
export { presenceOf, type Presence } from './diffs/presence.ts';
export type { RecordedTouch } from './diffs/records.ts';
export { nodesTouched, timelineOf, touchesOfNode, type Moment } from './diffs/timeline.ts';
export { commonVista, cycleSeen, vistaFrom, type CycleRow, type Vista } from './diffs/vista.ts';
export {
  findAct,
  findHistory,
  findLineage,
  listActs,
  listCommits,
  listHistories,
  listLineages,
  listNames,
  listNotes,
  listNotesAt,
  type Act,
  type CommitRow,
  type HistoryRow,
  type LineageRow,
  type NamedRow,
  type NoteRow,
} from './lineage/queries.ts';
export {
  findIntervention,
  listInterventions,
  listObservations,
  type InterventionPage,
  type InterventionQuery,
  type InterventionRow,
  type ObservationRow,
} from './lineage/interventions.ts';
export { lineage } from './lineage/lineage.ts';
export { foldFrame, type ReadModel } from './read-model.ts';
export { readImpactFacts, type Call, type ImpactFacts, type StrandFacts } from './impact-facts.ts';
export { actsBetween, readMeeting, type Meeting, type Side } from './meeting.ts';
export { resolvePosition, type Position, type PositionMarker } from './resolve-position.ts';
export { readChain, readStrand, type Link, type Strand } from './snapshots/chain.ts';
export { findSnapshot, listSnapshots, type Page, type SnapshotRow } from './snapshots/list-snapshots.ts';
export {
  isIdTaken,
  lineageNamed,
  namedPosition,
  readStanding,
  rememberedCommand,
  wasThereAtStart,
} from './snapshots/look-up.ts';
export { nearestMark, type Mark } from './snapshots/mark.ts';
export { nodeCourse, type NodeStep } from './snapshots/node-course.ts';
export { readNode } from './snapshots/read-node.ts';
export { readPart, type Wanted } from './snapshots/read-part.ts';
export { readConfig, readFlatTree, readHead, readLineage, readPosition } from './snapshots/read-position.ts';
export {
  threadCourse,
  type ThreadEntry,
  type ThreadSlice,
  type ThreadStep,
} from './snapshots/thread-course.ts';
export { walkBack, type Walk, type WalkStep, type WalkStop } from './snapshots/walk-back.ts';
export { snapshots } from './snapshots/snapshots.ts';
export { countStream, findStages, framesNodes, listStream, type SnapshotStages } from './stages/queries.ts';
export { stages } from './stages/stages.ts';
export type { StageNode } from './stages/node-row.ts';
export { payloadFrame, payloadOf } from './stages/payload-of.ts';
export type { BlockVersion } from './snapshots/block-versions.ts';
