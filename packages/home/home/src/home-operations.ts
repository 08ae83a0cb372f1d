import type { WideJson } from '@stemma/canonical';
import type { BranchRef } from '@stemma/history-store';
import type { RecordRange } from '@stemma/log';
import {
  acknowledge,
  addBundle,
  checkpointKeyPath,
  diagnose,
  exportExperiment,
  readDamage,
  readPartitionHealth,
  replayRows,
  runExperiment,
  salvageBranch,
  signWithKeyFile,
  statsOf,
  verifyHome,
  writeBundle,
  type AcknowledgedDamage,
  type AddedBundle,
  type BundleOptions,
  type BundleReport,
  type DoctorReport,
  type Experiments,
  type KnownDamage,
  type PartitionHealth,
  type ReplayOptions,
  type ReplayReport,
  type Salvaged,
  type SecretsScope,
  type SignedLog,
  type VerifyOptions,
  type VerifyReport,
} from '@stemma/operations';
import type { HomeServices } from './home-services.ts';

/** What keeps a home in order, and says in what state it is. */
export type HomeOperations = {
  /** True if others may write to its log who do not have its directory. */
  readonly isLogRemote: boolean;
  /** Sizes and counts: the log, the rows, the contents, each partition's end and cursor. */
  stats(): Promise<Readonly<Record<string, WideJson>>>;
  /**
   * What state log and rows are in, and what should be looked at; a log in the directory is read once more. Looks for
   * secrets in a sample of the frames, for a second at most, or in `all`.
   */
  doctor(secrets?: SecretsScope): Promise<DoctorReport>;
  /** Damage that the rows know of: what is not shown although it was recorded. Cheap. */
  damage(): Promise<KnownDamage>;
  /** Where the rows of each partition stand; asks the log for its end. For metrics and health: cheap. */
  partitions(): Promise<readonly PartitionHealth[]>;
  /**
   * Resolves if questions are answered and commands are taken. @throws E_ROWS_BEHIND while rows are made for the first time; E_IO
   * while the disk has no room for what is recorded; what log and rows throw
   */
  ready(): Promise<void>;
  /** Builds all rows again from offset zero: beside the old ones, or (`verify`) in a scratch store, comparing every row. */
  replay(options: ReplayOptions): Promise<ReplayReport>;
  /** Reads every record, every content, and rows. Rows that are damaged, or were made of what is damaged now, are built anew. */
  verify(options?: VerifyOptions): Promise<VerifyReport>;
  /**
   * A signed note of what each partition holds now, to keep elsewhere: it shows later that the log only grew. Reads the whole
   * log. @throws E_PARTITION_CLOSED, E_KEY_INVALID
   */
  checkpoint(): Promise<SignedLog>;
  /** Starts a new history from the last good snapshot of one that is damaged or defective. */
  salvage(branchRef: BranchRef): Promise<Salvaged>;
  /** Acknowledges damaged records of unknown histories, which close a partition. @throws E_NOTHING_TO_ACK, E_RECORD_INTACT */
  acknowledge(partition: number, range: RecordRange): Promise<AcknowledgedDamage>;
  /**
   * Adds the histories of a bundle that was unpacked to a directory, and verified. @throws E_CONFLICT, E_HISTORY_ERASED,
   *   E_PARTITION_CLOSED
   */
  addBundle(directory: string, signal: AbortSignal): Promise<AddedBundle>;
  /** Writes a run, or whole histories, as one file. @throws E_BUNDLE_ERASABLE, E_PARTITION_CLOSED, E_CONTENT_…, E_IO */
  bundle(options: BundleOptions): Promise<BundleReport>;
  /** Branches as files that run again to the same hashes. */
  readonly experiments: Experiments;
};

/** What operations that write need of the home that they are a part of. */
type WritingTarget = Parameters<typeof salvageBranch>[0] & Parameters<typeof runExperiment>[0];

export const openOperations = (services: HomeServices, target: WritingTarget): HomeOperations => {
  const { log, projection, directory } = services;
  return {
    isLogRemote: log.isRemote === true,
    stats: () => statsOf(services),
    doctor: (secrets) => diagnose(services, secrets),
    damage: () => readDamage(services),
    partitions: () => readPartitionHealth(services),
    ready: async () => {
      await services.rows.checkReady();
      await log.checkWritable?.();
      await readPartitionHealth(services);
    },
    replay: (options) => replayRows(services, options),
    verify: (how) => verifyHome(services, how),
    checkpoint: () => signWithKeyFile(log, directory, checkpointKeyPath(directory)),
    salvage: (branchRef) => salvageBranch(target, branchRef),
    acknowledge: (partition, range) => acknowledge(services, partition, range),
    addBundle: (from, signal) => addBundle(services, from, signal),
    bundle: (options) => writeBundle(services, options),
    experiments: {
      export: (position) => exportExperiment(projection, position),
      run: (source, options) => runExperiment(target, source, options),
    },
  };
};
