import type { StemmaError } from '@stemma/errors';
import type { ContentSource, DecodedFrames, EventLog } from '@stemma/log';
import { READ_MODELS, type ReadModel } from '@stemma/read-models';
import type { RowStore, Table } from '@stemma/row-store';
import type { BatchLimits } from './batch-limits.ts';
import { contentsWithSizes } from './contents-with-sizes.ts';
import { countedAmong, type IsCounted } from './counts/index.ts';
import { signatureOf, tablesOf } from './generations.ts';
import { splitOnDemand, type Eager } from './on-demand/index.ts';
import { inThisThread, type Progress, type RunPartition } from './run-partition.ts';

export type ProjectorOptions = {
  readonly log: EventLog;
  readonly contents: ContentSource;
  readonly store: RowStore;
  /** The frames that this process has written and decoded: they are folded as they are. A rebuild decodes all. */
  readonly decoded?: Pick<DecodedFrames, 'take' | 'stop'>;
  /** Default: the catalogue. */
  readonly models?: readonly ReadModel[];
  /** The group of readers: projectors of one group share their rows. Default `all`. */
  readonly group?: string;
  /**
   * The read models on demand that are folded with every frame: all, or those for which this is true; the others when
   * somebody reads them. Default: none.
   */
  readonly eager?: Eager;
  /** Keep the frames' bytes among the rows and read payloads there: for remote logs. Default false. */
  readonly keepFrames?: boolean;
  readonly limits?: BatchLimits;
  /** Bytes of trees to cache. Default 64 MiB. */
  readonly cacheBytes?: number;
  readonly progress?: (progress: Progress) => void;
  /** Called after every commit: true ends the run there, as a killed process would. For tests and verification. */
  readonly stop?: () => boolean;
  /** Told of rows that are damaged, before they are thrown away and built again. */
  readonly damaged?: (damage: StemmaError) => void;
  /** Milliseconds that a reader waits for damaged rows to be built again. Default: until they are. */
  readonly repairTimeout?: number;
  /** A steady clock in milliseconds. */
  readonly now?: () => number;
  /** What folds runs. Default: the thread that this is called in. A projector that is given another one must be closed. */
  readonly runPartition?: RunPartition;
  /** Called between frames; what it returns is awaited, so that others have a turn. Default: nothing. */
  readonly pause?: () => Promise<void> | undefined;
};

/** What has a default. */
export type Defaulted = Required<
  Omit<ProjectorOptions, 'decoded' | 'progress' | 'stop' | 'damaged' | 'repairTimeout'>
>;

/** The options, and what follows from them. */
export type Resolved = Defaulted &
  Pick<ProjectorOptions, 'decoded' | 'progress' | 'stop' | 'damaged' | 'repairTimeout'> & {
    /** The read models that are folded with every frame, and those that are folded on demand. */
    readonly folded: readonly ReadModel[];
    readonly onDemand: readonly ReadModel[];
    /** That of the generations that these read models write. */
    readonly signature: string;
    readonly tables: readonly Table[];
    readonly isCounted: IsCounted;
    readonly partitions: readonly number[];
  };

export const resolveOptions = (given: ProjectorOptions): Resolved => {
  const options = {
    models: READ_MODELS,
    group: 'all',
    eager: () => false,
    keepFrames: false,
    limits: {},
    runPartition: inThisThread,
    cacheBytes: 64 * 1024 * 1024,
    now: () => performance.now(),
    pause: () => undefined,
    ...given,
    contents: contentsWithSizes(given.contents),
  };
  const { models, keepFrames, log } = options;
  const [folded, onDemand] = splitOnDemand(models, options.eager);
  return {
    ...options,
    folded,
    onDemand,
    signature: signatureOf(models, keepFrames, onDemand.length > 0),
    tables: tablesOf(models, keepFrames, onDemand.length > 0),
    isCounted: countedAmong(models),
    partitions: Array.from({ length: log.partitions }, (_, partition) => partition),
  };
};
