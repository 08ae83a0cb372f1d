import type { RowReader } from '@stemma/row-store';
import { COMMANDS, IDS, NAMES } from './tables.ts';

/** True if a node of the history, of whatever lineage and time, has or had this id. */
export const isIdTaken = (rows: RowReader, history: string, id: string): boolean =>
  rows.range(IDS, { prefix: [history, id], limit: 1 }).length > 0;

/** The position that a name stands for. */
export const namedPosition = (
  rows: RowReader,
  history: string,
  name: string,
): { readonly strand: number; readonly seq: number } | undefined => {
  const value = rows.get(NAMES, [history, name]);
  return value && { strand: value[0] as number, seq: value[1] as number };
};

/** The frame that a command became (record §3: commands are remembered for ever). */
export const rememberedCommand = (
  rows: RowReader,
  history: string,
  command: string,
): { readonly seq: number; readonly digest: Uint8Array } | undefined => {
  const value = rows.get(COMMANDS, [history, command]);
  return value && { seq: value[0] as number, digest: value[1] as Uint8Array };
};
