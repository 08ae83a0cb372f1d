import { collectDefaultMetrics, Counter, Gauge, Histogram, Registry } from 'prom-client';
import { METRICS, type Definition, type LabelsOf, type MetricName, type NameOf } from './definitions.ts';

/** What one service counts. */
export type Metrics = {
  add<Name extends NameOf<'counter'>>(name: Name, labels: LabelsOf<Name>, by?: number): void;
  /** A gauge's value, or the state of a counter that is kept elsewhere. */
  set<Name extends NameOf<'gauge' | 'counter'>>(name: Name, labels: LabelsOf<Name>, value: number): void;
  observe<Name extends NameOf<'histogram'>>(name: Name, labels: LabelsOf<Name>, value: number): void;
  /**
   * `look` is called before each scrape, to set what is only worth knowing then. What it throws is swallowed and what
   * it takes longer than a second for is left out: a scrape is answered when nothing else is.
   */
  beforeScrape(look: () => Promise<void> | void): void;
  /** The text that Prometheus reads. */
  text(): Promise<string>;
  /** Of that text. */
  readonly contentType: string;
};

export type MetricsOptions = {
  readonly service: string;
  readonly version: string;
  /** Metrics of the process: memory, processor, event loop. Default true. */
  readonly ofProcess?: boolean;
  /** How long a look before a scrape may take, in milliseconds. Default 1000. */
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
    // What cannot be known just now is as it was.
  } finally {
    clearTimeout(timer);
  }
};
