import { crc32, deflateRawSync, zstdCompressSync } from 'node:zlib';

/** How the entries of an archive are compressed. */
type Method = 'stored' | 'deflate' | 'zstd';
const METHODS = { stored: 0, deflate: 8, zstd: 93 } as const;
const compressed = (bytes: Buffer, method: Method): Buffer =>
  method === 'stored' ? bytes : method === 'deflate' ? deflateRawSync(bytes) : zstdCompressSync(bytes);

/** A zip archive, as programs write one. `share`: all entries are the first one's bytes. */
export const zip = (
  entries: readonly (readonly [name: string, text: string])[],
  { method = 'deflate', share = false }: { readonly method?: Method; readonly share?: boolean } = {},
): Buffer => {
  const parts: Buffer[] = [];
  const directory: Buffer[] = [];
  let offset = 0;
  for (const [name, text] of entries) {
    const [path, bytes] = [Buffer.from(name), Buffer.from(text)];
    const body = compressed(bytes, method);
    const shared = Buffer.alloc(26);
    shared.writeUInt16LE(45, 0);
    shared.writeUInt16LE(METHODS[method], 4);
    shared.writeUInt32LE(crc32(bytes), 10);
    shared.writeUInt32LE(body.length, 14);
    shared.writeUInt32LE(bytes.length, 18);
    shared.writeUInt16LE(path.length, 22);
    if (!share || parts.length === 0) parts.push(Buffer.from('PK\u0003\u0004'), shared, path, body);
    const end = Buffer.alloc(14);
    end.writeUInt32LE(share ? 0 : offset, 10);
    directory.push(Buffer.from('PK\u0001\u0002'), Buffer.from([45, 0]), shared, end, path);
    offset += 30 + path.length + body.length;
  }
  const [files, index] = [Buffer.concat(parts), Buffer.concat(directory)];
  const last = Buffer.alloc(22);
  last.write('PK\u0005\u0006', 'latin1');
  last.writeUInt16LE(entries.length, 8);
  last.writeUInt16LE(entries.length, 10);
  last.writeUInt32LE(index.length, 12);
  last.writeUInt32LE(files.length, 16);
  return Buffer.concat([files, index, last]);
};
