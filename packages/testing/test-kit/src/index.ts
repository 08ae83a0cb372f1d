export { anyJson } from './any-json.ts';
export { NO_ANOMALIES, checkOperations, countAnomalies, type Anomalies, type Operation } from './checker.ts';
export { FAKE_SECRETS, type FakeSecret } from './fake-secrets.ts';
export { countWork } from './count-work.ts';
export { filesHolding } from './files-holding.ts';
export { NO_CHROMIUM, findChromium } from './find-chromium.ts';
export {
  referenceHistory,
  type Submitted,
  type AncestorSnapshot,
  type ReferenceHistory,
} from './reference-history.ts';
export { HISTORY, naiveHistory, type NaiveHistory } from './naive-history.ts';
export { anyOperations, perform, START, type RandomOperation } from './random-steps.ts';
export { brokerLibs, cacheFolder } from './kafka/broker-libs.ts';
export type { BrokerLibs } from './kafka/java.ts';
export { newClusterId } from './kafka/java.ts';
export { batchesIn } from './kafka/batches-in.ts';
export { startBroker, type Broker, type BrokerOptions } from './kafka/broker.ts';
export { engineAnswers, removeContainer, startContainerBroker } from './kafka/container-broker.ts';
export { freePort, freePorts, type Ports } from './kafka/ports.ts';
export { findBroker, missingTools, type FoundBroker } from './kafka/find-broker.ts';
export { readTopic, type TopicRecord } from './kafka/read-topic.ts';
export { sendGarbage } from './kafka/send-garbage.ts';
export { setTopic } from './kafka/set-topic.ts';
export {
  findPostgres,
  freshDatabase,
  type FoundPostgres,
  type FreshDatabase,
} from './postgres/find-postgres.ts';
export { postgresFolder, startPostgres, type Postgres, type PostgresOptions } from './postgres/postgres.ts';
export { programFile } from './program-file.ts';
export {
  sendAnswer,
  sendJson,
  startModels,
  type ModelCall,
  type ModelScript,
  type ScriptedAnswer,
  type ScriptedModels,
} from './scripted-models.ts';
export { endRun, startRun } from './shared-run.ts';
export { flipBitOfRow, replaceInRows, rowsFileOf } from './flip-rows.ts';
export { scratchFolder } from './scratch-folder.ts';
export { isLong, onlyLong, sized } from './sized.ts';
export { mountReadOnly, mountSmallDisk, NO_SMALL_DISK, type SmallDisk } from './small-disk.ts';
export { anyDepths, anySelector, type Words } from './selectors/any-selector.ts';
export { referenceSelect } from './selectors/reference-select.ts';
export { foldedPayloads } from './rows/folded-payloads.ts';
export { payloadsInMemory } from './rows/payloads-in-memory.ts';
export { allRows, anyRecorded, appendAll, entriesOf, logged, record, someRecorded } from './rows/recorded.ts';
export { rowsUnderTest, type RowsUnderTest } from './rows/rows-under-test.ts';
export { framesOf, play, type Played } from './rows/played-history.ts';
export { hashVectors, type HashVector } from './trees/hash-vectors.ts';
export { naiveDiff } from './trees/naive-diff.ts';
export { exportNaive, threadHashNaive, threadNaive, treeHashNaive } from './trees/naive-reading.ts';
export type { NaiveState } from './trees/naive-tree.ts';
export {
  applyToBoth,
  newHistoryPair,
  readBack,
  runs,
  script,
  type HistoryPair,
} from './trees/random-history.ts';
export {
  block,
  box,
  codeOf,
  COMMIT,
  exportedNodes,
  exportOf,
  facts,
  imported,
  newSession,
  nodePlacements,
  refused,
  started,
  type TestSession,
} from './trees/session.ts';
export { zip } from './zip.ts';
