export { askPool, type PoolQuestion, type PoolReply } from './ask-pool.ts';
export { parseAnswer, type PoolAnswer } from './parse-answer.ts';
export type { PoolMessage } from './pool-message.ts';
export { viewPool, type PoolView, type SampledMessage } from './pool-messages.ts';
export { pathLimits } from './path-limits.ts';
export { messageDocument, poolDocument } from './documents.ts';
export { embedderKind, type EmbedderKind, type EmbeddingOptions } from './embedder.ts';
export { bringVectors, embedMissing, type BroughtVector, type EmbeddedTexts } from './embed-pool.ts';
export { readBroughtVector, readBroughtVectors } from './read-brought-vectors.ts';
export {
  filterMessages,
  vectorOfText,
  messagesNear,
  messagesWithWords,
  type NearMessage,
} from './find-messages.ts';
export { runPool } from './run-pool.ts';
export {
  requestRun,
  resumeRun,
  serveRun,
  stopRun,
  viewRun,
  viewRuns,
  type NewRun,
  type RunView,
} from './requested-run.ts';
export type { PoolRound, PoolRun, PoolRunEnd, PoolRunOptions } from './run-types.ts';
export { finishedRound } from './round.ts';
export { drawSample } from './sample.ts';
export { checkPoolChange, DEFAULT_SETTINGS, settingsOf, type PoolSettings } from './settings.ts';
export { startPool, type NewPool } from './start-pool.ts';
export { exportSession, type ExportedSession } from './logosphere/export-session.ts';
export { importSession, type ImportedSession } from './logosphere/import-session.ts';
export { readSession, type LogosphereSession, type SessionFiles } from './logosphere/read-session.ts';
