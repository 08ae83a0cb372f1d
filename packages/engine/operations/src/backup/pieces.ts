import { fail } from '@stemma/errors';
import type { LogRecord } from '@stemma/log';
import { ENTRY_HEADER_BYTES, entryBytes, identifyRecord, readEntry, writeEntry } from '@stemma/log-embedded';
import type { BackupPartition } from './manifest.ts';

/** An entry at an offset of a backup, as a segment of the embedded log has it. */
export const entryOf = (offset: number, key: string, record: Uint8Array): Buffer => {
  const name = Buffer.from(key);
  const buffer = Buffer.allocUnsafe(entryBytes(name.length, record.length));
  writeEntry(buffer, 0, offset, name, record);
  return buffer;
};

/** The bytes of a record at its own offset, whatever state it is in; `damage` if they are not what was appended. */
export const bytesInPlace = (record: LogRecord): { readonly bytes: Buffer; readonly damage: boolean } => {
  const { offset, next, key } = record;
  const size = next - offset;
  const name = Buffer.from(key ?? '');
  if (key !== null && !record.damaged && entryBytes(name.length, record.bytes.length) === size)
    return { bytes: entryOf(offset, key, record.bytes), damage: false };
  const room = size - ENTRY_HEADER_BYTES - name.length;
  if (key !== null && record.keyVouched && room > 0) {
    // Its header is right: its history is known, and stays known.
    const filled = new Uint8Array(room);
    filled.set(record.bytes.subarray(0, room));
    return { bytes: entryOf(offset, key, filled), damage: false };
  }
  const bytes = Buffer.alloc(size);
  // A frame that is whole behind a header that is not is found from the end.
  bytes.set(record.bytes.subarray(0, size), size - Math.min(size, record.bytes.length));
  return { bytes, damage: true };
};

/** The records of a piece, its bytes verified before. @throws E_BACKUP_DAMAGED */
export const recordsOf = (
  piece: Buffer,
  { name, base }: { readonly name: string; readonly base: number },
  damage: BackupPartition['damage'],
): readonly LogRecord[] => {
  const records: LogRecord[] = [];
  for (let at = 0; at < piece.length;) {
    const offset = base + at;
    const hole = damage.find((each) => each.offset === offset);
    if (hole !== undefined) {
      const region = piece.subarray(at, at + hole.bytes);
      const found = identifyRecord(region) ?? { key: null, bytes: viewOf(region) };
      records.push({ offset, next: offset + hole.bytes, ...found, keyVouched: false, damaged: true });
      at += hole.bytes;
      continue;
    }
    const entry = readEntry(piece, at, offset);
    if (entry === undefined || entry === 'short' || entry.end > piece.length)
      throw fail('E_BACKUP_DAMAGED', `no record begins at ${offset} in ${name}`, { file: name, offset });
    records.push({
      offset,
      next: base + entry.end,
      key: piece.toString('utf8', entry.keyAt, entry.recordAt),
      bytes: viewOf(piece.subarray(entry.recordAt, entry.end)),
      keyVouched: true,
      damaged: false,
    });
    at = entry.end;
  }
  return records;
};

/** Not a Buffer, whose `slice` would not copy. */
const viewOf = (bytes: Buffer): Uint8Array => new Uint8Array(bytes.buffer, bytes.byteOffset, bytes.length);
