import { isStemmaError } from '@stemma/errors';
import { rowsDamaged } from '@stemma/row-store';

/** LMDB's codes that say that its file is not what it wrote: page not found, corrupted, panic, invalid, incompatible, bad value size. */
const DAMAGE = new Set([-30797, -30796, -30795, -30793, -30784, -30781]);

/** What lmdb threw, as E_ROWS_DAMAGED if it means that; else the error itself. */
export const damageIn = (error: unknown, generation: string, table: string): unknown => {
  const thrown = isStemmaError(error, 'E_IO') ? error.cause : error;
  const { code } = (thrown ?? {}) as { readonly code?: unknown };
  return typeof code === 'number' && DAMAGE.has(code) ? rowsDamaged(generation, table) : error;
};
