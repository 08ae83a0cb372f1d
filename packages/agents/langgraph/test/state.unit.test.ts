import { parseWideJson, type WideJson } from '@stemma/canonical';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { channelOf, nodesOfMessage, readState, valueOf } from '../src/state.ts';

const kwargs = fc.record({
  id: fc.string(),
  content: fc.oneof(fc.string(), fc.array(fc.record({ type: fc.constant('text'), text: fc.string() }))),
  name: fc.option(fc.string(), { nil: undefined }),
});
const message = fc
  .tuple(fc.constantFrom('HumanMessage', 'AIMessage', 'SystemMessage', 'ToolMessage'), kwargs)
  .map(([name, fields]) => ({
    lc: 1,
    type: 'constructor',
    id: ['langchain_core', 'messages', name],
    kwargs: fields,
  }));
const list = fc.oneof(
  fc.array(message),
  fc.array(message).map((value) => ({ lc: 2, type: 'delta_snapshot', value })),
  fc.jsonValue(),
);

test('a value that is stored as messages is the same text again', () => {
  fc.assert(
    fc.property(list, (value) => {
      const text = JSON.stringify(value);
      expect(valueOf(channelOf({ type: 'json', text }))).toEqual({ type: 'json', text });
    }),
  );
  expect(channelOf({ type: 'json', text: JSON.stringify([{ role: 'user', content: 'Hi' }]) }).kind).toBe(
    'messages',
  );
  // Not as `JSON.stringify` writes it: the bytes would be others.
  expect(channelOf({ type: 'json', text: '[ {"role":"user","content":"Hi"} ]' }).kind).toBe('value');
});

test('a message is read from its nodes as it was', () => {
  fc.assert(
    fc.property(message, (value) => {
      const text = JSON.stringify(value);
      const nodes = nodesOfMessage(text, 'messages', 7);
      const checkpoint = {
        ...{ id: 'checkpoint', kind: 'checkpoint', data_type: 'json', content: '{}', data_id: 'c1' },
        data_channels: [{ name: 'messages', before: '', after: '' }],
      };
      const exported = { root: { children: [checkpoint, { children: nodes }] } } as unknown as WideJson;
      const { channels } = readState(parseWideJson(JSON.stringify(exported), 'the export'));
      const read = channels.get('messages');
      expect(read === undefined ? null : valueOf(read)?.text).toBe(`[${text}]`);
    }),
  );
});
