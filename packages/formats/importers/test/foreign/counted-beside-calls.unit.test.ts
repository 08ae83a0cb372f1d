import { expect, test } from 'vitest';
import { foreignImporter } from '../../src/foreign/foreign-importer.ts';
import { langfuse } from '../../src/foreign/langfuse.ts';

test('what a file of calls says besides is counted in its report, though no conversation of it has messages', async () => {
  const value = {
    ...{ id: 'o1', traceId: 't1', type: 'GENERATION', startTime: '2026-09-01T10:00:00Z', promptId: 'p1' },
    ...{ input: [{ role: 'user', content: 'How deep?' }], output: '7 m' },
  };
  async function* units() {
    yield { where: 'line 1', text: '', value, line: 1 };
    yield { where: 'line 2', text: '', value, line: 2 };
  }
  const outputs = [];
  for await (const output of foreignImporter(langfuse).read(units())) outputs.push(output);
  const beside = outputs.find(({ kind }) => kind === 'beside');
  expect(beside?.kind === 'beside' && beside.summary.summary()).toMatchObject({
    dropped: { 'field promptId': 1 },
    warnings: [{ code: 'W_REPEATED', count: 1, first: 'line 2' }],
  });
});
