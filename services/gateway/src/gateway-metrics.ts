import { VERSION } from '@stemma/errors';
import type { Home, HomeOptions } from '@stemma/home';
import { countFolding, countWriting, openMetrics, type Metrics } from '@stemma/metrics';

/** Metrics of a process that serves a home: what to open the home with, and, when it is open, to call with it. */
export type GatewayMetrics = {
  readonly metrics: Metrics;
  readonly observe: NonNullable<HomeOptions['observe']>;
  readonly opened: (home: Home) => void;
};

export const openGatewayMetrics = (): GatewayMetrics => {
  const metrics = openMetrics({ service: 'gateway', version: VERSION });
  let home: Home | undefined;
  const folded = countFolding({
    metrics,
    readModel: 'all',
    partitionStatus: async () => (await home?.operations.partitions()) ?? [],
  });
  // A rate of something that has never happened is 0, not absent.
  metrics.add('stemma_rows_rebuilt_total', {}, 0);
  const damaged = (): void => metrics.add('stemma_rows_rebuilt_total', {});
  return { metrics, observe: { ...countWriting(metrics), folded, damaged }, opened: (one) => (home = one) };
};
