import type { EndpointName } from './endpoints.ts';

/** Endpoints that only read, and whose answers may take more than a moment to compute: they have a deadline. */
export const HEAVY: ReadonlySet<EndpointName> = new Set([
  'select',
  'range',
  'diff',
  'why',
  'blame',
  'bisect',
  'cache',
  'calls',
  'sizes',
  'compare',
  'comparePage',
  'experiment',
  'ctrees',
  'ctreesTree',
  'ctreesEvents',
  'interventions',
  'impact',
  'events',
  'thread',
  'export',
  'doctor',
  'search',
]);
