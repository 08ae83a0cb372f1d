import type { Memory } from '../memory-row-store.ts';
import { damaged, type Damage } from './fixtures.ts';

/** Damages the row of `things` whose text is `h/1/a/1`. */
export const damageMemory = ({ generations }: Memory, damage: Damage): void => {
  const rows = generations.get('g')?.tables.get('things');
  for (const [text, bytes] of rows?.range('', undefined, false, Infinity) ?? []) {
    if (!Buffer.from(bytes).includes('h/1/a/1')) continue;
    const { key, value } = damaged(damage, Buffer.from(text, 'latin1'), bytes);
    rows?.remove(text);
    rows?.put(key.toString('latin1'), value);
  }
};
