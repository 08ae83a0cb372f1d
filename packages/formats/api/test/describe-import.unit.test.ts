import { expect, test } from 'vitest';
import { importLine, importSentences, type ImportAnswer } from '../src/index.ts';

const IMPORTED: ImportAnswer = {
  ...{
    format: 'claude-code',
    version: '2.1.7',
    title: 'Late parcel',
    calls: 12,
    messages: 41,
    tool_calls: 1,
  },
  models: { 'claude-small': 2, 'claude-x': 10 },
  fidelity: { exact: 0, same: 2, reconstructed: 10 },
  missing: { tools: 12, 'system prompt': 12 },
  dropped: Object.fromEntries(Array.from({ length: 10 }, (_, i) => [`line kind-${i}`, 20 - i])),
  warnings: [{ code: 'W_LINE_CUT', count: 1, first: 'line 88' }],
};

test('an import is told in one line', () => {
  expect(importLine(IMPORTED)).toBe(
    'imported from claude-code 2.1.7: 12 calls, 2 with the same messages, 10 reconstructed; missing: system prompt, tools',
  );
  expect(importLine({ format: 'codex', calls: 1 })).toBe('imported from codex: 1 call');
  expect(importLine({ format: 'codex', missing: {} })).toBe('imported from codex');
});

test('in sentences it says how true it is, what is missing, what was dropped, and its warnings', () => {
  expect(importSentences(IMPORTED)).toEqual([
    'Imported from claude-code 2.1.7 (Late parcel): 12 calls, 41 messages, 1 tool call.',
    'Models: claude-x (10), claude-small (2).',
    'Fidelity: 2 with the same messages, 10 reconstructed.',
    'Missing, by calls: system prompt (12), tools (12).',
    'Not recorded: line kind-0 (20), line kind-1 (19), line kind-2 (18), line kind-3 (17), line kind-4 (16), line kind-5 (15), line kind-6 (14), line kind-7 (13) and 2 more.',
    'Warnings: W_LINE_CUT (1), first at line 88.',
  ]);
  expect(importSentences({ format: 'codex' })).toEqual(['Imported from codex.']);
});
