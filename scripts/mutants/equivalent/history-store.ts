import type { EquivalentMutant } from './equivalent-mutant.ts';

export const HISTORY_STORE: readonly EquivalentMutant[] = [
  {
    file: 'packages/rows/history-store/src/read-position.ts',
    original: 'nodes.push({ headers, location, parent, expires, payload })',
    replacement: 'nodes.unshift({ headers, location, parent, expires, payload })',
    reason: 'whoever uses the nodes puts them into the order of their headers',
  },
  {
    file: 'packages/rows/history-store/src/position-meta.ts',
    original: 'meta.olderLive.length === 0',
    replacement: 'false',
    reason: 'an empty list is read like none: only a byte of the row',
  },
  {
    file: 'packages/rows/history-store/src/records.ts',
    original: '3',
    replacement: '4',
    line: 'turnItself: 3',
    reason: 'another number for the same region, written and read by the same code',
  },
  {
    file: 'packages/rows/history-store/src/thread-timeline-rows.ts',
    original: '0',
    replacement: '1',
    line: 'region === REGION.sys && number > 0',
    reason: 'frame 1 never rewrites ^sys: it takes more than 64 removed rows, and one frame leaves none',
  },
];
