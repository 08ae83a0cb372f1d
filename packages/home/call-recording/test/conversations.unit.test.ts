import { branchRefOf } from '@stemma/history-store';
import { expect, it } from 'vitest';
import { openConversations, type Conversation } from '../src/conversations.ts';
import type { LastCall } from '../src/start-call.ts';

const MEGABYTE = 1_000_000;

/** Says that the first call of a conversation was recorded in the first frame of its history. */
const record = (conversations: ReturnType<typeof openConversations>, n: number): void => {
  const branch = branchRefOf(`h${n}`, 0);
  const tools = [{ name: `tool-${n}` }];
  const conversation: Conversation = {
    ...{ branch, given: [], others: 0 },
    hashes: { lists: [], messages: [], whole: [] },
  };
  const last: LastCall = { location: { seq: 0, index: 0 }, hasRequest: false, toolsAt: null, tools };
  conversations.accepted({ ...branch, seq: 0, events: [], repeated: false });
  conversations.recorded(`b${n}`, conversation, { last, tip: 0 }, MEGABYTE);
};

const toolsOf = (conversations: ReturnType<typeof openConversations>, n: number): unknown =>
  conversations.continuation(`b${n}`, branchRefOf(`h${n}`, 0))?.last.tools;

it('the tools of a conversation are remembered as long as its messages, of which only so many bytes are', () => {
  const conversations = openConversations();
  for (let n = 0; n < 100; n++) record(conversations, n);
  expect(toolsOf(conversations, 99)).toEqual([{ name: 'tool-99' }]);
  expect(conversations.find('b0')).toBeUndefined();
  expect(toolsOf(conversations, 0)).toBeUndefined();
});

it('a conversation that another history goes on with has no continuation in its own', () => {
  const conversations = openConversations();
  record(conversations, 1);
  const found = conversations.find('b1') as Conversation;
  const last: LastCall = { location: { seq: 0, index: 0 }, hasRequest: false, toolsAt: null, tools: null };
  const branch = branchRefOf('another', 0);
  conversations.recorded('b1', { ...found, branch }, { last, tip: 0 }, 1);
  expect(conversations.continuation('b1', branchRefOf('h1', 0))).toBeUndefined();
});
