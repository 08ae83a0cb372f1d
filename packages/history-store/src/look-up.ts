import type { Standing } from '@stemma/history';
import type { RowReader } from '@stemma/row-store';
import { readHead } from './read-position.ts';
import { COMMANDS, IDS, LINEAGE_NAMES, NAMES, STRANDS } from './tables.ts';

/** True if a node of the history, of whatever lineage and time, has or had this id. */
export const isIdTaken = (rows: RowReader, history: string, id: string): boolean =>
  rows.range(IDS, { prefix: [history, id], limit: 1 }).length > 0;

/** True if the frame that started the history brought the node: it came with an import. */
export const wasThereAtStart = (rows: RowReader, history: string, id: string): boolean =>
  rows.range(IDS, { prefix: [history, id], to: 0, limit: 1 }).length > 0;

/** The position that a name stands for. */
export const namedPosition = (
  rows: RowReader,
  history: string,
  name: string,
): { readonly strand: number; readonly seq: number } | undefined => {
  const value = rows.get(NAMES, [history, name]);
  return value && { strand: value[0] as number, seq: value[1] as number };
};

/** The frame that a command became (record §3: commands remembered). */
export const rememberedCommand = (
  rows: RowReader,
  history: string,
  command: string,
): { readonly seq: number; readonly digest: Uint8Array } | undefined => {
  const value = rows.get(COMMANDS, [history, command]);
  return value && { seq: value[0] as number, digest: value[1] as Uint8Array };
};

/** The lineage that has a name now. */
export const lineageNamed = (rows: RowReader, history: string, name: string): number | undefined =>
  (rows.get(LINEAGE_NAMES, [history, name])?.[0] ?? undefined) as number | undefined;

/** Where a lineage stands, in two look-ups; undefined: there is none. */
export const readStanding = (rows: RowReader, history: string, strand: number): Standing | undefined => {
  const row = rows.get(STRANDS, [history, strand]);
  if (row === undefined) return undefined;
  const [parent, at, , , name] = row;
  return {
    strand,
    parent: parent == null ? null : { strand: parent as number, at: at as number },
    name: (name ?? null) as string | null,
    seq: readHead(rows, history, strand),
  };
};
