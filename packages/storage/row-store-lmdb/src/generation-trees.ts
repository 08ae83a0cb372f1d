import { fail } from '@stemma/errors';
import {
  hashBytes,
  keyScratch,
  rowsDamaged,
  seedOf,
  writeKey,
  writeUint,
  type Key,
  type Table,
} from '@stemma/row-store';
import type { Bytes, LmdbEnvironment } from './lmdb-environment.ts';
import { ownHead } from './own-keys.ts';
import { ownRecords, type OwnRecords } from './own-records.ts';
import { ownersOf, type Owner, type Owners } from './owners.ts';
import { packedRows, type PackedRows } from './packed-tree.ts';
import type { Head } from './write-rows.ts';

/*
 * Keys of a table: [generation][owner's number][the key's other columns]; if the key is the owner alone:
 * [generation][owner]. The store's own tree has for each generation, after [01][generation]: 00 partition → cursor, 01
 * owner → number, 02 → next number.
 *
 * The checksum of a row is begun with the names of its table and its owner, and its key in the tree.
 */

/** `number` undefined: nothing was committed under this name yet; `register` assigns one, in a write transaction. */
export type Registration = { number(): number | undefined; register(): number };

/** The packed rows of one owner in a table. */
type OwnedRows = {
  readonly bytes: Buffer;
  readonly tree: Bytes;
  readonly seed: number;
  readonly rows: PackedRows;
};

/** Where the rows of a generation are: its number, the numbers of its owners, and the trees of its tables. */
export class GenerationTrees {
  readonly name: string;
  readonly own: OwnRecords;
  readonly #environment: Pick<LmdbEnvironment, 'own' | 'table'>;
  readonly #registered: Registration;
  readonly #known: ReadonlySet<string>;
  readonly #lastPacked = new Map<Table, OwnedRows>();
  #base: number | undefined;
  #owners: Owners | undefined;

  constructor(
    environment: Pick<LmdbEnvironment, 'own' | 'table'>,
    name: string,
    tables: readonly Table[],
    registered: Registration,
  ) {
    this.name = name;
    this.own = ownRecords(environment.own, name);
    this.#environment = environment;
    this.#registered = registered;
    this.#known = new Set(tables.map((table) => table.name));
    this.#setBase(registered.number());
  }

  /** Its number; undefined before the first commit. */
  get base(): number | undefined {
    return this.#base;
  }

  get owners(): Owners | undefined {
    return this.#owners;
  }

  /** False before the first commit, and when it was dropped. */
  isOpen(): boolean {
    if (this.#base !== undefined && this.#registered.number() === this.#base) return true;
    this.#setBase(this.#registered.number());
    return this.#base !== undefined;
  }

  /** Its number, which it is given if it has none. In a write transaction. */
  register(): number {
    if (this.#base === undefined) this.#setBase(this.#registered.register());
    return this.#base as number;
  }

  treeOf(table: Table, create = false): Bytes | undefined {
    if (!this.#known.has(table.name))
      throw fail('E_INTERNAL', `the generation ${this.name} has no table ${table.name}`);
    return this.#environment.table(table.name, create);
  }

  /** The tree of a table; undefined before the first commit, which makes all of them. */
  treeToRead(table: Table): Bytes | undefined {
    const tree = this.treeOf(table);
    if (tree === undefined && this.#base !== undefined) throw rowsDamaged(this.name, table.name);
    return this.#base === undefined ? undefined : tree;
  }

  /**
   * Writes the bytes before the key's own columns; returns where they end and the first column that is not among them.
   */
  writeHead(table: Table, key: Key, take: boolean): Head | undefined {
    let owner: Owner | undefined;
    const owned = table.key.length > 1 && key.length > 0;
    if (owned) {
      const cell = ownerText(key[0] as string | number);
      owner = take ? this.#owners?.assign(cell) : this.#owners?.find(cell);
      if (owner === undefined) return undefined;
    }
    let at = writeUint(0, this.#base ?? 0);
    if (owner !== undefined) at = writeUint(at, owner.number);
    return { at, column: owned ? 1 : 0, seed: seedFor(table, owner) };
  }

  keyBytes(table: Table, key: Key): { readonly bytes: Buffer; readonly seed: number } | undefined {
    const head = this.writeHead(table, key, false);
    if (head === undefined) return undefined;
    const end = writeKey(head.at, table, key, head.column);
    return { bytes: keyScratch.subarray(0, end), seed: hashBytes(head.seed, keyScratch, 0, end) };
  }

  /** The packed rows of the owner that a key begins with; undefined if there are none. */
  packedOf(table: Table, key: Key, create = false): PackedRows | undefined {
    const head = this.writeHead(table, key, create);
    const tree = create ? this.treeOf(table) : this.treeToRead(table);
    if (head === undefined || tree === undefined) return undefined;
    const known = this.#lastPacked.get(table);
    // Many rows of one owner are usually read one after the other.
    if (known?.tree === tree && known.seed === head.seed && isHead(known.bytes, head.at)) return known.rows;
    const bytes = Buffer.from(keyScratch.subarray(0, head.at));
    const found = packedRows(tree, table, key.slice(0, head.column), { ...head, bytes }, this.name);
    this.#lastPacked.set(table, { bytes, tree, seed: head.seed, rows: found });
    return found;
  }

  #setBase(base: number | undefined): void {
    this.#base = base;
    this.#owners = base === undefined ? undefined : ownersOf(this.own, ownHead(base));
  }
}

/** True if the bytes before the columns of a key that was just written are these. */
const isHead = (bytes: Buffer, at: number): boolean => {
  if (bytes.length !== at) return false;
  for (let i = 0; i < at; i++) if (bytes[i] !== keyScratch[i]) return false;
  return true;
};

export const seedFor = (table: Table, owner: { readonly hash: number } | undefined): number =>
  seedOf(table) ^ (owner?.hash ?? 0);

const ownerText = (owner: string | number): string => (typeof owner === 'number' ? String(owner) : owner);
