import { isStemmaError } from '@stemma/errors';
import type { LabelsOf, Metrics } from '@stemma/metrics';

/** What is counted where the connections are, which may not be where the metrics are. */
type DoorMetric =
  | 'stemma_http_requests_total'
  | 'stemma_http_refused_total'
  | 'stemma_http_forwarded_total'
  | 'stemma_proxied_calls_total'
  | 'stemma_http_connections_dropped_total';

export type CountAtDoor = <Name extends DoorMetric>(name: Name, labels: LabelsOf<Name>) => void;

/** Counts of the door, on their way to the metrics. */
export type DoorCounts = readonly (readonly [name: DoorMetric, labels: LabelsOf<DoorMetric>, by: number])[];

/** Counts until they are taken. */
export const openDoorCounts = (): { readonly count: CountAtDoor; readonly take: () => DoorCounts } => {
  const counts = new Map<string, [DoorMetric, LabelsOf<DoorMetric>, number]>();
  return {
    count: (name, labels) => {
      const key = `${name} ${Object.values(labels).join(' ')}`;
      const known = counts.get(key) ?? [name, labels, 0];
      known[2]++;
      counts.set(key, known);
    },
    take: () => {
      const taken = [...counts.values()];
      counts.clear();
      return taken;
    },
  };
};

export const addDoorCounts = (metrics: Metrics, counts: DoorCounts): void => {
  for (const [name, labels, by] of counts) metrics.add(name, labels, by);
};

/** Counts a request that no route answered: one to an address where nothing is counts as answered, by no route. */
export const countRefusal = (count: CountAtDoor, method: string, error: unknown): void => {
  const code = isStemmaError(error) ? error.code : 'E_INTERNAL';
  if (code === 'E_NOT_FOUND') count('stemma_http_requests_total', { method, route: 'none', status: 404 });
  else count('stemma_http_refused_total', { code });
};
