import type { Metrics } from './metrics.ts';

/** What a projector reports after each commit of a run. Counts add up within the run; its first commit has `batches` 1. */
export type FoldingProgress = {
  readonly partition: number;
  readonly frames: number;
  readonly events: number;
  readonly batches: number;
};

/** The offset of a partition's rows, and the records that were stale or damaged up to it. */
export type PartitionStatus = {
  readonly partition: number;
  readonly rows: number;
  readonly lag: number;
  readonly accepted: number;
  readonly stale: Readonly<Record<string, number>>;
  readonly damaged: number;
  readonly closed: boolean;
};

export type FoldingOptions = {
  readonly metrics: Metrics;
  /** The read model, or group of them, that the rows belong to. */
  readonly readModel: string;
  /** The current state of each partition; called before each scrape. */
  readonly partitionStatus: () => Promise<readonly PartitionStatus[]>;
  /** Milliseconds since 1970. */
  readonly now?: () => number;
};

const WINDOW = 30_000;

/** Counts what a projector folds. Give the returned function to the projector as `progress`. */
export const countFolding = ({
  metrics,
  readModel,
  partitionStatus,
  now = Date.now,
}: FoldingOptions): ((folded: FoldingProgress) => void) => {
  const read_model = readModel;
  const last = new Map<number, FoldingProgress>();
  let recent: { readonly at: number; readonly events: number }[] = [];
  const labels = { read_model };
  metrics.add('stemma_frames_folded_total', labels, 0);
  metrics.add('stemma_events_folded_total', labels, 0);

  metrics.beforeScrape(() => {
    const from = now() - WINDOW;
    recent = recent.filter(({ at }) => at > from);
    const events = recent.reduce((sum, each) => sum + each.events, 0);
    metrics.set('stemma_replay_events_per_second', labels, events / (WINDOW / 1000));
  });
  metrics.beforeScrape(async () => {
    for (const { partition, ...at } of await partitionStatus()) {
      const of = { partition, read_model };
      metrics.set('stemma_lag_records', of, at.lag);
      metrics.set('stemma_rows_offset', of, at.rows);
      metrics.set('stemma_records_accepted_total', of, at.accepted);
      metrics.set('stemma_records_damaged', of, at.damaged);
      metrics.set('stemma_partition_closed', of, at.closed ? 1 : 0);
      for (const [reason, count] of Object.entries(at.stale))
        metrics.set('stemma_records_stale_total', { ...of, reason }, count);
    }
  });
  return (folded) => {
    const before = folded.batches > 1 ? last.get(folded.partition) : undefined;
    last.set(folded.partition, folded);
    const events = folded.events - (before?.events ?? 0);
    metrics.add('stemma_frames_folded_total', labels, folded.frames - (before?.frames ?? 0));
    metrics.add('stemma_events_folded_total', labels, events);
    metrics.set('stemma_last_commit_timestamp_seconds', labels, now() / 1000);
    recent.push({ at: now(), events });
    if (recent.length > 1000) recent = recent.filter(({ at }) => at > now() - WINDOW);
  };
};
