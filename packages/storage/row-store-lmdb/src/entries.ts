import { sha256Hex } from '@stemma/canonical';
import { shapeOf, type Table } from '@stemma/row-store';
import type { OwnRecords } from './own-records.ts';

/**
 * What the store knows of a generation: the number that its keys begin with, and the SHA-256 of the shape of its tables.
 * Every commit reads it, and the shape itself has twelve kilobytes.
 */
export type GenerationEntry = { readonly number: number; readonly shape: string };

/** The store's own keys begin with 00: generations count from 1. */
export const nameKey = (kind: string, name: string): Buffer =>
  Buffer.concat([Buffer.of(0x00), Buffer.from(kind + name)]);

export const shapeHash = (tables: readonly Table[]): string => sha256Hex(shapeOf(tables));

export const readEntry = (db: OwnRecords, name: string): GenerationEntry | undefined => {
  const text = db.get(nameKey('g', name));
  return text && (JSON.parse(text.toString()) as GenerationEntry);
};
