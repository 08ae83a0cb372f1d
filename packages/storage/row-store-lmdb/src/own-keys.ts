import type { OwnRecords } from './own-records.ts';
import { uintBytes } from './owners.ts';

/** The prefix of a generation's keys in the store's own tree. */
export const ownHead = (generation: number): Buffer =>
  Buffer.concat([Buffer.of(0x01), uintBytes(generation)]);

export const cursorKey = (generation: number, partition: number): Buffer => {
  const number = Buffer.allocUnsafe(4);
  number.writeUInt32BE(partition);
  return Buffer.concat([ownHead(generation), Buffer.of(0x00), number]);
};

/** The cursors of a generation by partition. */
export const cursorsOf = (own: OwnRecords, generation: number): Map<number, Uint8Array> => {
  const start = Buffer.concat([ownHead(generation), Buffer.of(0x00)]);
  const end = Buffer.concat([ownHead(generation), Buffer.of(0x01)]);
  const cursors = new Map<number, Uint8Array>();
  for (const { key, value } of own.range(start, end))
    cursors.set(key.readUInt32BE(start.length), new Uint8Array(value));
  return cursors;
};
