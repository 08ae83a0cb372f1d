import { fail } from '@stemma/errors';
import { expect, test } from 'vitest';
import { openPathHider } from '../src/hide-paths.ts';

test('what a database says of a statement, which names its tables, is not told to clients', () => {
  const said = 'the database db:5432/x: it refused a statement (relation "stemma.cursors" does not exist)';
  const { message } = openPathHider('/a/home').error(fail('E_INTERNAL', said, { state: '42P01' }));
  expect(message).toBe('the database db:5432/x: it refused a statement');
});
