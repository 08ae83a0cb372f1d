import { collectDefaultMetrics, Counter, Gauge, Histogram, Registry } from 'prom-client';
import { METRICS, type Definition, type LabelsOf, type MetricName, type NameOf } from './definitions.ts';

/** The metrics of one service. */
export type Metrics = {
  add<Name extends NameOf<'counter'>>(name: Name, labels: LabelsOf<Name>, by?: number): void;
  /** Sets a gauge, or a counter whose value is counted elsewhere. */
  set<Name extends NameOf<'gauge' | 'counter'>>(name: Name, labels: LabelsOf<Name>, value: number): void;
  observe<Name extends NameOf<'histogram'>>(name: Name, labels: LabelsOf<Name>, value: number): void;
  /**
   * Calls `look` before each scrape, to set values that are only needed then. If it throws or takes longer than
   * `patience`, the scrape is answered with the old values: metrics must work while the service does not.
   */
  beforeScrape(look: () => Promise<void> | void): void;
  /** The text that Prometheus reads. */
  text(): Promise<string>;
  /** The media type of `text`. */
  readonly contentType: string;
};

export type MetricsOptions = {
  readonly service: string;
  readonly version: string;
  /** Adds metrics of the process: memory, CPU, event loop. Default true. */
  readonly ofProcess?: boolean;
  /** Milliseconds that a `look` may take before each scrape. Default 1,000. */
  readonly patience?: number;
};

/** The metrics of one service, in a registry of their own. */
export const openMetrics = ({
  service,
  version,
  ofProcess = true,
  patience = 1000,
}: MetricsOptions): Metrics => {
  const registry = new Registry();
  if (ofProcess) collectDefaultMetrics({ register: registry });
  const made = new Map<MetricName, Counter | Gauge | Histogram>();
  for (const [name, definition] of Object.entries(METRICS) as [MetricName, Definition][])
    made.set(name, make(name, definition, registry));
  const looks: (() => Promise<void> | void)[] = [];

  const metrics: Metrics = {
    add: (name, labels, by = 1) => {
      (made.get(name) as Counter).inc(labels, by);
    },
    set: (name, labels, value) => {
      const metric = made.get(name);
      if (metric instanceof Gauge) metric.set(labels, value);
      else if (metric instanceof Counter) {
        metric.remove(labels);
        metric.inc(labels, value);
      }
    },
    observe: (name, labels, value) => {
      (made.get(name) as Histogram).observe(labels, value);
    },
    beforeScrape: (look) => void looks.push(look),
    text: async () => {
      await Promise.all(looks.map((look) => within(patience, look)));
      return registry.metrics();
    },
    contentType: registry.contentType,
  };
  metrics.set('stemma_service_info', { service, version }, 1);
  return metrics;
};

const make = (
  name: string,
  { kind, help, labels, buckets }: Definition,
  registry: Registry,
): Counter | Gauge | Histogram => {
  const common = { name, help, labelNames: [...labels], registers: [registry] };
  switch (kind) {
    case 'counter':
      return new Counter(common);
    case 'gauge':
      return new Gauge(common);
    case 'histogram':
      return new Histogram({ ...common, ...(buckets && { buckets: [...buckets] }) });
  }
};

const within = async (milliseconds: number, look: () => Promise<void> | void): Promise<void> => {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, milliseconds);
  });
  try {
    await Promise.race([look(), late]);
  } catch {
    // The metric keeps its old value.
  } finally {
    clearTimeout(timer);
  }
};
