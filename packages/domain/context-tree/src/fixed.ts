import type { FixedName, FixedRecord, FixedRecords, Headers } from './node.ts';

export const FIXED_TYPES = { root: '^root', sys: '^sys', seq: '^seq', ah: '^ah' } as const;
export const FIXED_NAMES: readonly FixedName[] = ['root', 'sys', 'seq', 'ah'];
const INDEX = { root: 0, sys: 0, seq: 1, ah: 2 } as const;

export type FixedIds = { readonly [name in FixedName]: string };

/** The default headers of a root or region (context-tree §10.5, §10.19). */
export const fixedHeaders = (name: FixedName, id: string, cycle: number): Headers => ({
  id,
  nodeType: FIXED_TYPES[name],
  offset: 0,
  ttl: null,
  priority: 0,
  cycle,
  created_at_ns: 0n,
  creation_index: INDEX[name],
});

/** Root and regions of a new history: cycle 0, time 0 (context-tree §10.5). */
export const freshFixed = (ids: FixedIds): FixedRecords => {
  const record = (name: FixedName): FixedRecord => ({
    headers: fixedHeaders(name, ids[name], 0),
    payload: null,
  });
  return { root: record('root'), sys: record('sys'), seq: record('seq'), ah: record('ah') };
};

/** Ids for root and regions that lack one: `root`, `sys`, `seq`, `ah`, with `-` appended while taken (context-tree §10.19). */
export const completeIds = (given: Partial<FixedIds>, taken: (id: string) => boolean): FixedIds => {
  const used = new Set(Object.values(given));
  const choose = (name: FixedName): string => {
    if (given[name] !== undefined) return given[name];
    let id: string = name;
    while (used.has(id) || taken(id)) id += '-';
    used.add(id);
    return id;
  };
  return { root: choose('root'), sys: choose('sys'), seq: choose('seq'), ah: choose('ah') };
};
