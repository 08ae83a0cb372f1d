import { branchNamesIn, enteredIdsIn, positionNamesIn } from '@stemma/events';
import type { KeptFrame, Lookups } from '@stemma/history';
import type { Remembered } from './recent-frames.ts';

/** What decisions look up in those frames of a history that the rows have. */
export type LookupLists = {
  readonly ids: Iterable<string>;
  readonly names: Iterable<string>;
  readonly branches: Iterable<readonly [name: string, branchId: number | undefined]>;
  readonly commands: Iterable<readonly [id: string, Remembered]>;
};

/** The same in memory, so that a decision reads no rows. */
export type LookupsInMemory = Lookups & {
  /** Takes in a frame that the rows have. */
  add(frame: KeptFrame): void;
  /** A rough estimate. */
  readonly bytes: number;
};

/** Bytes of an entry of a set or map with its text, and of a digest. */
const ENTRY = 120;
const DIGEST = 150;

export const openLookupsInMemory = (rows: LookupLists): LookupsInMemory => {
  const ids = new Set(rows.ids);
  const names = new Set(rows.names);
  const branches = new Map(rows.branches);
  const commands = new Map(rows.commands);
  return {
    idTaken: (id) => ids.has(id),
    nameTaken: (name) => names.has(name),
    branchNamed: (name) => branches.get(name),
    command: (id) => commands.get(id),
    add: ({ events, branchId, command, seq, digest }) => {
      for (const id of enteredIdsIn(events)) ids.add(id);
      for (const name of positionNamesIn(events)) names.add(name);
      for (const [name, branch] of branchNamesIn(events, branchId)) branches.set(name, branch);
      commands.set(command, { seq, digest });
    },
    get bytes() {
      return (ids.size + names.size + branches.size) * ENTRY + commands.size * (ENTRY + DIGEST);
    },
  };
};

/** Those of a history without frames. */
export const NO_LOOKUPS: LookupLists = { ids: [], names: [], branches: [], commands: [] };
