import { isStemmaError } from '@stemma/errors';
import { expect, test } from 'vitest';
import { importerFor } from '../../src/catalogue.ts';

test.each([
  ['Cursor', { composerId: 'x', conversation: [{ type: 1, text: 'Hi' }] }],
  ['Cursor', [{ bubbleId: 'x', type: 1, text: 'Hi' }]],
  ['Cursor', { allComposers: [] }],
  ['Cline', [{ ts: 1, type: 'say', say: 'text', text: 'Hi' }]],
  ['OrcaReplay', { seq: 0, ts: 'x', mono_us: 1, turn: 0, type: 'run.start', actor: 'x' }],
  ['OrcaReplay', { schema_version: '1', run_id: 'run_000000000000', orca_version: '1' }],
])('a file of %s is refused by name, with what to do instead', (name, value) => {
  try {
    importerFor(value, 'x.json');
    expect.unreachable();
  } catch (error) {
    if (!isStemmaError(error)) throw error;
    expect(error.code).toBe('E_FORMAT_UNSUPPORTED');
    expect(error.message).toMatch(new RegExp(`^x.json is .*${name}.*: (record|import) `));
  }
});
