import { z } from 'zod';
import { BranchStarted } from './branch-started.ts';
import { CallFinished } from './call-finished.ts';
import { CallHeld } from './call-held.ts';
import { CallReassigned } from './call-reassigned.ts';
import { CallReleased } from './call-released.ts';
import { CallStarted } from './call-started.ts';
import { CallSteered } from './call-steered.ts';
import { ConversationLinked } from './conversation-linked.ts';
import { ConfigurationChanged } from './configuration-changed.ts';
import { ContentRedacted } from './content-redacted.ts';
import { DamageAcknowledged, FormatRaised, LogOpened } from './control.ts';
import { EffectRecorded } from './effect-recorded.ts';
import { FrameSealed } from './frame-sealed.ts';
import { HistoryErased } from './history-erased.ts';
import { HistoryLabelled } from './history-labelled.ts';
import { HistoryStarted } from './history-started.ts';
import { ImportLinked } from './import-linked.ts';
import { ImportRecorded } from './import-recorded.ts';
import { InterventionRecorded } from './intervention-recorded.ts';
import { NodeCascaded } from './node-cascaded.ts';
import { NodeExpired } from './node-expired.ts';
import { NodeHeld } from './node-held.ts';
import { NodeImported } from './node-imported.ts';
import { NodeInserted } from './node-inserted.ts';
import { NodeMoved } from './node-moved.ts';
import { NodePruned } from './node-pruned.ts';
import { NodeRemoved } from './node-removed.ts';
import { NodeReplaced } from './node-replaced.ts';
import { ObservationRecorded } from './observation-recorded.ts';
import { PolicyConfigured } from './policy-configured.ts';
import { PositionAnnotated, PositionNamed } from './position-named.ts';
import { PriorityChanged } from './priority-changed.ts';
import { ProviderCallRecorded } from './provider-call-recorded.ts';
import { RerunEnded } from './rerun-ended.ts';
import { RunEnded } from './run-ended.ts';
import { RunRecorded } from './run-recorded.ts';
import { RunRequested } from './run-requested.ts';
import { RunTaken } from './run-taken.ts';
import { SnapshotCommitted, SnapshotImported } from './snapshot-committed.ts';
import { TurnSealed } from './turn-sealed.ts';
import { VectorsRecorded } from './vectors-recorded.ts';

/**
 * Every event of a history, in no meaningful order. A new event needs its own file, a line here, a row of facts.ts and the lines that
 * CONTRIBUTING.md lists.
 */
export const HistoryEvent = z.discriminatedUnion('type', [
  HistoryStarted,
  BranchStarted,
  NodeInserted,
  NodeImported,
  NodeReplaced,
  NodeMoved,
  NodeRemoved,
  NodeExpired,
  NodeCascaded,
  NodePruned,
  NodeHeld,
  TurnSealed,
  SnapshotCommitted,
  SnapshotImported,
  PolicyConfigured,
  PriorityChanged,
  PositionNamed,
  PositionAnnotated,
  HistoryLabelled,
  InterventionRecorded,
  ConfigurationChanged,
  ObservationRecorded,
  CallStarted,
  CallFinished,
  ProviderCallRecorded,
  CallReassigned,
  ConversationLinked,
  CallSteered,
  CallHeld,
  CallReleased,
  RunRequested,
  RunTaken,
  RunEnded,
  RunRecorded,
  RerunEnded,
  ImportRecorded,
  ImportLinked,
  EffectRecorded,
  VectorsRecorded,
  ContentRedacted,
  HistoryErased,
]);
export type HistoryEvent = z.infer<typeof HistoryEvent>;

/** The events of the reserved histories `log:P` (record §2). */
export const ControlEvent = z.discriminatedUnion('type', [LogOpened, FormatRaised, DamageAcknowledged]);
export type ControlEvent = z.infer<typeof ControlEvent>;

/** What stands for the events of a sealed frame. */
export const SealedEvent = FrameSealed;
export type SealedEvent = z.infer<typeof FrameSealed>;

export type StemmaEvent = HistoryEvent | ControlEvent | SealedEvent;
