import { expect, test } from 'vitest';
import { namedCommands } from './run-commands.ts';

test('every command that the help names is measured as histories grow, or said why it is not', () => {
  expect(namedCommands()).toContain('snapshots');
});
