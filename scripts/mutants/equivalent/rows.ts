import type { EquivalentMutant } from './equivalent-mutant.ts';

export const ROWS: readonly EquivalentMutant[] = [
  {
    file: 'packages/row-store/src/remote-rows.ts',
    original: 'Math.floor(BYTES_AHEAD / (rowBytes.get(table.name) ?? 256))',
    replacement: 'Math.ceil(BYTES_AHEAD / (rowBytes.get(table.name) ?? 256))',
    reason: 'one row more is fetched ahead, of those that fill about 2 MiB: only work',
  },
];
