import type { OwnRecords } from './own-records.ts';

/** What the store knows of a generation: the number that its keys begin with, and the shape of its tables. */
export type GenerationEntry = { readonly number: number; readonly shape: string };

/** The store's own keys begin with 00: generations count from 1. */
export const nameKey = (kind: string, name: string): Buffer =>
  Buffer.concat([Buffer.of(0x00), Buffer.from(kind + name)]);

export const readEntry = (db: OwnRecords, name: string): GenerationEntry | undefined => {
  const text = db.get(nameKey('g', name));
  return text && (JSON.parse(text.toString()) as GenerationEntry);
};
