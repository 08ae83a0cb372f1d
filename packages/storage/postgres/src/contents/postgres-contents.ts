import { ContentRef, sha256Hex } from '@stemma/canonical';
import {
  damagedContent,
  missingContent,
  refuseTooLarge,
  verifiedContent,
  type ContentStore,
} from '@stemma/contents';
import { decodeBytea, openDatabase, type Database } from '../database/database.ts';
import { isSchemaAltered, mendSchema, migrate } from '../database/schema.ts';

/**
 * Contents in the table `stemma.contents` of a database; the table is made if missing. As durable as the database's
 * settings (`fsync`, `synchronous_commit`).
 *
 * @param url `postgres://…`, or an open database, which the caller closes
 * @throws E_USAGE, E_DATABASE_VERSION and the errors of {@link Database}; its methods too
 */
export const openPostgresContents = async (url: string | Database): Promise<ContentStore> => {
  const database = typeof url === 'string' ? openDatabase(url) : url;
  const close = async (): Promise<void> => {
    if (typeof url === 'string') await database.close();
  };
  try {
    await migrate(database);
  } catch (error) {
    await close();
    throw error;
  }
  /** Who dropped the table may not keep others from storing contents: it is made again, and what was in it is missing. */
  const mending = async <T>(work: () => Promise<T>): Promise<T> => {
    try {
      return await work();
    } catch (error) {
      if (!isSchemaAltered(error)) throw error;
      await mendSchema(database);
      return work();
    }
  };
  const put = async (bytes: Uint8Array): Promise<ContentRef> => {
    refuseTooLarge(bytes.length);
    const ref = new ContentRef(sha256Hex(bytes), bytes.length);
    const hash = Buffer.from(ref.sha256, 'hex');
    // Most repeated contents are stored already: the bytes are sent only if they are not.
    if (await isStored(database, ref, hash)) return ref;
    const added = await database.query(
      'insert into stemma.contents (sha256, size, bytes) values ($1, $2, $3) on conflict do nothing returning size',
      [hash, bytes.length, bytes],
    );
    if (added.length === 0) await isStored(database, ref, hash);
    return ref;
  };
  const get = async (ref: ContentRef): Promise<Uint8Array> => {
    const [row] = await database.query('select bytes from stemma.contents where sha256 = $1', [
      Buffer.from(ref.sha256, 'hex'),
    ]);
    const bytes = row?.[0];
    if (bytes === undefined || bytes === null) throw missingContent(ref);
    return verifiedContent(ref, new Uint8Array(decodeBytea(bytes)));
  };
  return {
    put: (bytes) => mending(() => put(bytes)),
    get: (ref) => mending(() => get(ref)),
    missing: (refs) => mending(() => missing(database, refs)),
    list: () => listed(database),
    close,
  };
};

/** True if the content is stored; the database compares the hash. @throws E_CONTENT_DAMAGED if the bytes are wrong */
const isStored = async (database: Database, ref: ContentRef, hash: Buffer): Promise<boolean> => {
  const [row] = await database.query(
    'select octet_length(bytes) = $2 and size = $2 and sha256(bytes) = $1 from stemma.contents where sha256 = $1',
    [hash, ref.size],
  );
  if (row !== undefined && row[0] !== 't') throw damagedContent(ref);
  return row !== undefined;
};

const missing = async (database: Database, refs: readonly ContentRef[]): Promise<readonly ContentRef[]> => {
  const stored = new Map<string, number>();
  for (let from = 0; from < refs.length; from += PAGE) {
    const hashes = refs.slice(from, from + PAGE).map(({ sha256 }) => Buffer.from(sha256, 'hex'));
    const found = await database.query(
      `select sha256, size from stemma.contents where sha256 in (${hashes.map((_, i) => `$${i + 1}`).join(', ')})`,
      hashes,
    );
    for (const [hash, size] of found) stored.set((hash ?? '').slice(2), Number(size));
  }
  return refs.filter(({ sha256, size }) => stored.get(sha256) !== size);
};

const PAGE = 1_000;

async function* listed(database: Database): AsyncGenerator<ContentRef> {
  for (let after: Buffer = Buffer.alloc(0); ;) {
    const page = await database.query(
      `select sha256, size from stemma.contents where sha256 > $1 order by sha256 limit ${PAGE}`,
      [after],
    );
    for (const [hash, size] of page) yield new ContentRef((hash ?? '').slice(2), Number(size));
    if (page.length < PAGE) return;
    after = decodeBytea(page.at(-1)?.[0] ?? '');
  }
}
