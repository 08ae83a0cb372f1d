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
