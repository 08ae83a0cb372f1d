import { describe, expect, it } from 'vitest';
import type { RecordedBlock } from '../src/openai-chat/message.ts';
import { blocksToMessages } from '../src/openai-chat/nodes-to-messages.ts';

const block = (
  id: string,
  role: string | null,
  kind: string | null,
  payload: RecordedBlock['payload'],
): RecordedBlock => ({
  id,
  role,
  kind,
  payload,
});

describe('blocks that no importer wrote', () => {
  it('become messages by role and kind, the calls of one turn together', { tags: ['context-tree§4'] }, () => {
    expect(
      blocksToMessages([
        block('s', 'system', 'text', { content: 'rules' }),
        block('d', 'retriever', 'document', { content: { page: 1 } }),
        block('u', 'user', null, {}),
        block('a', 'assistant', 'text', { content: 'two calls' }),
        block('c1', 'assistant', 'call', { content: { name: 'look', arguments: { at: 'x' } } }),
        block('c2', 'assistant', 'call', {
          content: { id: 'k', type: 'function', function: { name: 'f', arguments: '' } },
        }),
        block('r1', 'tool', 'result', { content: ['odd'], data_name: 'look' }),
        block('r2', null, 'result', { content: 'ok' }),
        block('c3', 'assistant', 'call', { content: 'free text', data_call_id: 'z', data_name: 'g' }),
        block('r3', 'tool', 'result', { content: null, data_tool_call_id: 'z' }),
        block('p', 'user', 'text', { content: [{ type: 'text', text: 'part' }] }),
      ]),
    ).toEqual([
      { role: 'system', content: 'rules' },
      { role: 'user', content: '{"page":1}' },
      { role: 'user', content: '' },
      {
        role: 'assistant',
        content: 'two calls',
        tool_calls: [
          { id: 'c1', type: 'function', function: { name: 'look', arguments: '{"at":"x"}' } },
          { id: 'k', type: 'function', function: { name: 'f', arguments: '' } },
        ],
      },
      { role: 'tool', tool_call_id: 'c1', content: '["odd"]', name: 'look' },
      { role: 'tool', tool_call_id: 'k', content: 'ok' },
      {
        role: 'assistant',
        content: null,
        tool_calls: [{ id: 'z', type: 'function', function: { name: 'g', arguments: 'free text' } }],
      },
      { role: 'tool', tool_call_id: 'z', content: '' },
      { role: 'user', content: [{ type: 'text', text: 'part' }] },
    ]);
  });

  it('stand beside imported messages from which parts were removed', { tags: ['context-tree§9'] }, () => {
    const call = { id: 'x', type: 'function', function: { name: 'f', arguments: '' } };
    const text = block('m1', 'assistant', 'text', {
      content: 'hm',
      data_message: { ordinal: 1, content: 'whole' },
    });
    const rest = block('m1:1', 'assistant', 'call', { content: call, data_continues: 1 });
    expect(blocksToMessages([text])).toEqual([{ role: 'assistant', content: 'hm' }]);
    expect(blocksToMessages([rest])).toEqual([{ role: 'assistant', content: null, tool_calls: [call] }]);
    expect(blocksToMessages([text, block('h', 'user', 'text', { content: 'between' }), rest])).toEqual([
      { role: 'assistant', content: 'hm' },
      { role: 'user', content: 'between' },
      { role: 'assistant', content: null, tool_calls: [call] },
    ]);
  });
});
