import { expect, it } from 'vitest';
import { parseAnswer } from '../src/index.ts';

it.each([
  ['Only this.', { thinking: '', messages: ['Only this.'] }],
  ['', { thinking: '', messages: [] }],
  ['  \n ', { thinking: '', messages: [] }],
  ['I think.\n---\nOne.\n---\nTwo.', { thinking: 'I think.', messages: ['One.', 'Two.'] }],
  ['I think.\r\n --- \r\nOne\r\nline.\r\n', { thinking: 'I think.', messages: ['One\nline.'] }],
  ['---\nOne.', { thinking: '', messages: ['One.'] }],
  ['I say nothing.\n---\n', { thinking: 'I say nothing.', messages: [] }],
  ['A\n---\n\n---\nB', { thinking: 'A', messages: ['B'] }],
  ['A --- B', { thinking: '', messages: ['A --- B'] }],
  ['A\n----\nB', { thinking: '', messages: ['A\n----\nB'] }],
])(
  'what stands before the first line of --- is private, and such lines split the rest: %j',
  { tags: ['pool:Runner'] },
  (text, wanted) => {
    expect(parseAnswer(text)).toEqual(wanted);
  },
);
