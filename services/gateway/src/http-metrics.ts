import type { Metrics } from '@stemma/metrics';

/** Counts a request from now on; to be called when it is answered, with the route that answered. */
export const countRequest = (metrics: Metrics, method: string): ((route: string, status: number) => void) => {
  const started = performance.now();
  addInFlight(metrics, 1);
  return (route, status) => {
    addInFlight(metrics, -1);
    metrics.add('stemma_http_requests_total', { method, route, status });
    const seconds = (performance.now() - started) / 1000;
    metrics.observe('stemma_http_request_duration_seconds', { method, route }, seconds);
  };
};

const requestsInFlight = new WeakMap<Metrics, number>();

const addInFlight = (metrics: Metrics, by: number): void => {
  const now = (requestsInFlight.get(metrics) ?? 0) + by;
  requestsInFlight.set(metrics, now);
  metrics.set('stemma_http_requests_in_flight', {}, now);
};
