import type { WideJsonObject } from '@stemma/canonical';
import { expect, test } from 'vitest';
import { changedByProvider, readAnswer, type ContextEdit } from '../src/index.ts';

const use = (id: string, name = 'read'): WideJsonObject => ({
  role: 'assistant',
  content: null,
  tool_calls: [{ id, type: 'function', function: { name, arguments: '{}' } }],
});
const result = (id: string): WideJsonObject => ({ role: 'tool', tool_call_id: id, content: 'ok' });
const READS = ['t0', 't1', 't2'].flatMap((id) => [use(id), result(id)]);
const CLEAR = { type: 'clear_tool_uses_20250919', cleared_tool_uses: 2, cleared_input_tokens: 48 };

const said = (
  edits: readonly ContextEdit[],
  more: Partial<Parameters<typeof changedByProvider>[0]> = {},
): readonly string[] =>
  changedByProvider({
    ...{ api: 'anthropic.messages', parameters: {}, messages: READS, answer: null, edits, ...more },
  });

test.each<[readonly ContextEdit[], readonly string[]]>([
  [
    [CLEAR],
    [
      'the provider cleared 2 tool uses (48 tokens) before the model: the oldest go first, so these may be t0, t1',
    ],
  ],
  [
    [{ type: 'clear_thinking_20251015', cleared_thinking_turns: 1, cleared_input_tokens: 1 }],
    ['the provider cleared 1 thinking turn (1 token) before the model'],
  ],
  [[{ ...CLEAR, cleared_tool_uses: 9 }], ['the provider cleared 9 tool uses (48 tokens) before the model']],
  [[{ ...CLEAR, cleared_tool_uses: 0, cleared_input_tokens: 0 }], []],
  [[{ type: 'edit_of_2027' }], ['the provider applied edit_of_2027 before the model']],
  [[], []],
])('%j is said as %j', { tags: ['calls§1.12'] }, (edits, sentences) => {
  expect(said(edits)).toEqual(sentences);
});

test(
  'tool uses that a request excludes are not among those that may be gone',
  { tags: ['calls§1.12'] },
  () => {
    const context_management = { edits: [{ type: CLEAR.type, exclude_tools: ['note'] }] };
    const messages = [use('n1', 'note'), result('n1'), ...READS];
    expect(said([CLEAR], { parameters: { context_management }, messages })[0]).toMatch(/may be t0, t1$/);
  },
);

const hi: WideJsonObject = { role: 'user', content: 'Hi' };
const item = { type: 'compaction', id: 'cmp_1', encrypted_content: 'gAAA' };
const OPENAI = { api: 'openai.responses', messages: [hi] } as const;

test.each([
  [
    { ...OPENAI, parameters: { truncation: 'auto' } },
    [/^with truncation auto the provider may have dropped/],
  ],
  [{ ...OPENAI, parameters: { truncation: 'disabled' } }, []],
  [
    { ...OPENAI, messages: [hi, { role: 'assistant', content: [item], items: ['part'] }, hi] },
    [
      /^what its compaction item says is encrypted, and the model may not have been shown the 1 message before/,
    ],
  ],
  [
    { ...OPENAI, messages: [{ role: 'assistant', content: [item], items: ['part'] }, hi] },
    [/^what its compaction item says is encrypted$/],
  ],
  [
    { ...OPENAI, answer: { role: 'assistant', content: [item], items: ['part'] } },
    [/^the provider compacted/],
  ],
  [
    { messages: [hi, { role: 'assistant', content: [{ type: 'compaction', content: 'Short.' }] }, hi] },
    [/^the provider shows the model the compaction block in place of the 1 message before/],
  ],
  [{ api: 'openai.chat' as const, parameters: { truncation: 'auto' } }, []],
])('of %j is said %j', { tags: ['calls§1.12'] }, (context, sentences) => {
  expect(said([], context)).toEqual(
    sentences.map((sentence) => expect.stringMatching(sentence) as unknown as string),
  );
});

const head = { status: 200, contentType: null };
const message = { type: 'message', role: 'assistant', content: [{ type: 'text', text: 'Hi' }] };
const managed = { applied_edits: [{ ...CLEAR, note: 'sk-1', cleared_by: 'x' }, 'none'] };
const events = [
  { type: 'message_start', message: { ...message, content: [] } },
  { type: 'message_delta', delta: { stop_reason: 'end_turn' }, usage: {}, context_management: managed },
  { type: 'message_stop' },
];

test.each([
  ['whole', JSON.stringify({ ...message, stop_reason: 'end_turn', context_management: managed })],
  ['streamed', events.map((event) => `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`).join('')],
])(
  'what an answer counts of its edits is read, and nothing else of them: %s',
  { tags: ['calls§1.12'] },
  (_, body) => {
    const answer = readAnswer('anthropic.messages', head, new TextEncoder().encode(body));
    expect(answer.contextEdits).toEqual([CLEAR]);
  },
);
