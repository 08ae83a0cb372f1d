/** What the page shows in place of the context at one position, as its address says it: `?h=mine&show=rerun`. */
export const PAGE_VIEWS = [
  'runs',
  'call',
  'time',
  'compare',
  'rerun',
  'pool',
  'branches',
  'calls',
  'stages',
  'events',
  'system',
] as const;
