import { fail } from '@stemma/errors';
import { readPrices, type PriceTable } from '@stemma/model-apis';
import { readFile, stat } from 'node:fs/promises';

/** The price table of a home as its file has it now; null: there is no file. @throws E_INPUT_SHAPE and others, E_IO */
export type Prices = () => Promise<PriceTable | null>;

/** @param isNamed true: somebody named the file, and it must be there */
export const openPrices = (path: string, isNamed: boolean): Prices => {
  let known: { readonly version: string; readonly table: PriceTable } | undefined;
  return async () => {
    const version = await stat(path).then(
      (found) => {
        // A pipe, or a device that never ends, would be read for ever.
        if (!found.isFile()) throw fail('E_IO', `the price table ${path} is no file`, { path });
        return `${found.mtimeMs} ${found.size} ${found.ino}`;
      },
      (error: unknown) => {
        if (!isNamed && error instanceof Error && 'code' in error && error.code === 'ENOENT') return null;
        throw fail('E_IO', `the price table ${path} cannot be read`, { path });
      },
    );
    if (version === null) return null;
    if (known?.version === version) return known.table;
    const read = readPrices(await readFile(path, 'utf8'));
    if (!read.ok) throw fail(read.code, `${path}: ${read.reason}`, { path });
    known = { version, table: read.prices };
    return known.table;
  };
};
