import { fail } from '@stemma/errors';
import type { Patience } from '@stemma/home';
import type { EventLog } from '@stemma/log';
import { countFolding, openMetrics, serveStatus, type Folded, type PartitionStanding, type StatusServer } from '@stemma/metrics';
import { isClosed, type Projector } from '@stemma/projector';
import type { Course } from './course.ts';

/** What the relay says of itself to programs. */
export type Status = {
  readonly published: (events: number) => void;
  readonly folded: (folded: Folded) => void;
  /** It has found everything it needs and is under way. */
  readonly relaying: (log: EventLog, projector: Projector, courses: readonly Course[]) => void;
  serve(port: number): Promise<StatusServer>;
};

export const openStatus = (patience: Patience): Status => {
  const metrics = openMetrics({ service: 'relay', version: '0.1.0' });
  let way: { log: EventLog; projector: Projector; courses: readonly Course[] } | undefined;

  const standings = async (): Promise<readonly PartitionStanding[]> => {
    if (way === undefined) return [];
    const { log, projector, courses } = way;
    return Promise.all(courses.map(({ partition }) => standingOf(log, projector, partition)));
  };
  const folded = countFolding({ metrics, readModel: 'relay', standing: standings });
  metrics.add('stemma_events_relayed_total', {}, 0);
  metrics.beforeScrape(async () => {
    if (way === undefined) return;
    let held = 0;
    for (const course of way.courses) {
      const { partition } = course;
      const lag = (await way.log.end(partition)) - course.place().cursor.offset;
      metrics.set('stemma_relay_lag_records', { partition }, Math.max(lag, 0));
      held += course.place().held.size;
    }
    metrics.set('stemma_relay_held_histories', {}, held);
  });

  const ready = (): void => {
    const waiting = patience.waitsFor();
    if (waiting !== null) throw fail('E_BUSY', `waiting: ${waiting}`);
    if (way === undefined) throw fail('E_BUSY', 'it has not begun yet');
    const closed = way.courses.find((course) => course.isClosed());
    if (closed !== undefined)
      throw fail('E_PARTITION_CLOSED', `a damaged record closes partition ${closed.partition}`);
  };
  return {
    published: (events) => metrics.add('stemma_events_relayed_total', {}, events),
    folded,
    relaying: (log, projector, courses) => void (way = { log, projector, courses }),
    serve: (port) => serveStatus({ metrics, port, ready }),
  };
};

const standingOf = async (
  log: EventLog,
  projector: Projector,
  partition: number,
): Promise<PartitionStanding> => {
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
