import { isStemmaError, StemmaError } from '@stemma/errors';
import { expect, it } from 'vitest';
import { damageIn } from './lmdb-damage.ts';

const withCode = (code: unknown): Error => Object.assign(new Error('lmdb'), { code });
const DAMAGE = [-30797, -30796, -30795, -30793, -30784, -30781];

it('the codes of lmdb that say that its file is not what it wrote are damaged rows, and no others', () => {
  for (let code = -30800; code <= -30770; code++) {
    const error = withCode(code);
    const found = damageIn(error, 'g', 't');
    if (!DAMAGE.includes(code)) expect(found).toBe(error);
    else expect(found).toMatchObject({ code: 'E_ROWS_DAMAGED', detail: { generation: 'g', table: 't' } });
  }
});

it('an error of the disk is examined for the error of lmdb that caused it, and no other error is', () => {
  const cause = withCode(-30796);
  const io = new StemmaError('E_IO', 'the rows cannot be opened', {}, { cause });
  expect(isStemmaError(damageIn(io, 'g', 't'), 'E_ROWS_DAMAGED')).toBe(true);
  const other = new StemmaError('E_ROWS_UNWRITABLE', 'full', {}, { cause });
  expect(damageIn(other, 'g', 't')).toBe(other);
});

it('other errors stay as they are', () => {
  for (const thrown of [undefined, null, 'text', 7, {}, withCode('-30796'), withCode(undefined)])
    expect(damageIn(thrown, 'g', 't')).toBe(thrown);
});
