import { fail, VERSION } from '@stemma/errors';
import type { Retry } from '@stemma/home';
import type { EventLog } from '@stemma/log';
import {
  countFolding,
  openMetrics,
  serveStatus,
  type FoldingProgress,
  type PartitionStatus,
  type StatusServer,
} from '@stemma/metrics';
import { isClosed, type Projector } from '@stemma/projector';
import type { PartitionRelay } from './partition-relay.ts';

/** The relay's metrics and health, for programs. */
export type Status = {
  readonly published: (events: number) => void;
  readonly folded: (folded: FoldingProgress) => void;
  /** Called when the relay has opened everything and begins to publish. */
  readonly started: (log: EventLog, projector: Projector, partitionRelays: readonly PartitionRelay[]) => void;
  serve(port: number): Promise<StatusServer>;
};

export const openStatus = (retry: Retry): Status => {
  const metrics = openMetrics({ service: 'relay', version: VERSION });
  let running:
    { log: EventLog; projector: Projector; partitionRelays: readonly PartitionRelay[] } | undefined;

  const readPartitionStatuses = async (): Promise<readonly PartitionStatus[]> => {
    if (running === undefined) return [];
    const { log, projector, partitionRelays } = running;
    return Promise.all(
      partitionRelays.map(({ partition }) => readPartitionStatus(log, projector, partition)),
    );
  };
  const folded = countFolding({ metrics, readModel: 'relay', partitionStatus: readPartitionStatuses });
  metrics.add('stemma_events_relayed_total', {}, 0);
  metrics.beforeScrape(async () => {
    if (running === undefined) return;
    let held = 0;
    for (const partitionRelay of running.partitionRelays) {
      const { partition } = partitionRelay;
      const lag = (await running.log.end(partition)) - partitionRelay.checkpoint().cursor.offset;
      metrics.set('stemma_relay_lag_records', { partition }, Math.max(lag, 0));
      held += partitionRelay.checkpoint().held.size;
    }
    metrics.set('stemma_relay_held_histories', {}, held);
  });

  const ready = (): void => {
    const waiting = retry.waitingFor();
    if (waiting !== null) throw fail('E_BUSY', `waiting: ${waiting}`);
    if (running === undefined) throw fail('E_BUSY', 'it has not begun yet');
    const closed = running.partitionRelays.find((partitionRelay) => partitionRelay.isClosed());
    if (closed !== undefined)
      throw fail('E_PARTITION_CLOSED', `a damaged record closes partition ${closed.partition}`);
  };
  return {
    published: (events) => metrics.add('stemma_events_relayed_total', {}, events),
    folded,
    started: (log, projector, partitionRelays) => void (running = { log, projector, partitionRelays }),
    serve: (port) => serveStatus({ metrics, port, ready }),
  };
};

const readPartitionStatus = async (
  log: EventLog,
  projector: Projector,
  partition: number,
): Promise<PartitionStatus> => {
  const checkpoint = await projector.checkpoint(partition);
  const rows = checkpoint?.cursor.offset ?? 0;
  return {
    partition,
    rows,
    lag: Math.max((await log.end(partition)) - rows, 0),
    accepted: checkpoint?.state.accepted ?? 0,
    stale: checkpoint?.state.stale ?? {},
    damaged: checkpoint?.state.damage.length ?? 0,
    closed: isClosed(checkpoint),
  };
};
