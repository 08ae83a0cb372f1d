import type { Metrics } from '@stemma/metrics';
import type { Hono, MiddlewareHandler } from 'hono';
import { routePath } from 'hono/route';

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

/** Counts requests by the route that answered: never by the path, of which there is one a history. */
export const countRequests =
  (metrics: Metrics): MiddlewareHandler =>
  async (c, next) => {
    const answered = countRequest(metrics, c.req.method);
    try {
      await next();
    } finally {
      const path = routePath(c, -1);
      answered(path === '' || path === '/*' ? 'none' : path, c.res.status);
    }
  };

const requestsInFlight = new WeakMap<Metrics, number>();

const addInFlight = (metrics: Metrics, by: number): void => {
  const now = (requestsInFlight.get(metrics) ?? 0) + by;
  requestsInFlight.set(metrics, now);
  metrics.set('stemma_http_requests_in_flight', {}, now);
};

/** What Prometheus reads. Behind the guard like everything: scrapers of this machine name it as it is named. */
export const routeMetrics = (app: Hono, metrics: Metrics): void => {
  app.get('/metrics', async (c) =>
    c.body(await metrics.text(), 200, { 'content-type': metrics.contentType }),
  );
};
