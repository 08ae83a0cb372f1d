import { canonicalJson, isJsonObject, type WideJson, type WideJsonObject } from '@stemma/canonical';
import { fail } from '@stemma/errors';
import type { CallUsage } from '@stemma/events';
import { openChatItems, type ChatItems } from './chat-items.ts';
import { countOf, listOf, nonEmpty, objectOf, textOf, timeOf } from './fields.ts';
import type { ForeignItem } from './item.ts';
import type { ForeignReader } from './reader.ts';

/**
 * Sessions of GitHub Copilot CLI, `~/.copilot/session-state/ID/events.jsonl`: `{type: 'session.start', data: {sessionId}, id, timestamp, parentId}`, then one event
 * a line. Each `assistant.message` is a call. What an agent of a tool call did (`parentToolCallId`) is a conversation beside; a rewind begins a branch.
 */
export const copilotCli: ForeignReader = {
  name: 'copilot-cli',
  mapping: 'copilot-cli@1',
  summary: 'sessions of GitHub Copilot CLI: session-state/ID/events.jsonl',
  versions:
    'the events of github/copilot-sdk (nodejs/src/generated/session-events.ts), version 1 of the session file',
  recognises: (first) => isStart(first),
  async *read(units): AsyncIterable<ForeignItem> {
    let session: Session | null = null;
    for await (const { value, where, fault } of units) {
      if (fault !== undefined) {
        yield { kind: 'warning', code: 'W_LINE_DAMAGED', where };
        continue;
      }
      if (session === null && !isStart(value))
        throw fail('E_INPUT_SHAPE', `${where} stands before the start of a session`);
      if (session === null) {
        session = openSession(objectOf(objectOf(value)['data']));
        yield* session.head();
      } else yield* session.event(value, where);
    }
  },
};

const isStart = (value: WideJson): boolean =>
  isJsonObject(value) &&
  value['type'] === 'session.start' &&
  typeof value['id'] === 'string' &&
  typeof objectOf(value['data'])['sessionId'] === 'string';

type Session = {
  readonly head: () => Iterable<ForeignItem>;
  readonly event: (value: WideJson, where: string) => Iterable<ForeignItem>;
};

/** A conversation of a session: its own, or that of an agent. */
type Thread = {
  readonly key: string;
  readonly items: ChatItems;
  last: string | null;
};

/** Events that others tell in full. */
const REPEATED =
  /^(assistant\.(turn_start|turn_end|message_delta|reasoning|reasoning_delta|intent|tool_call_delta)|tool\.execution_(start|progress|partial_result))$/;

const openSession = (start: WideJsonObject): Session => {
  const session = textOf(start['sessionId']) ?? '';
  const threads = new Map<string, Thread>();
  let current = '';
  /** The message or call before each event: a rewind names any of them. */
  const before = new Map<string, string | null>();
  let model = nonEmpty(start['selectedModel']) ?? null;

  function* threadOf(toolCall: string | undefined): Iterable<ForeignItem> {
    const key = toolCall === undefined ? session : `${session}/${toolCall}`;
    const isNew = !threads.has(key);
    if (isNew) threads.set(key, { key, items: openChatItems(), last: null });
    if (!isNew && key === current) return;
    current = key;
    yield toolCall === undefined
      ? { kind: 'conversation', key, version: nonEmpty(start['copilotVersion']) }
      : { kind: 'conversation', key, sidechain: true, parent: { key: session, toolCall } };
  }
  const place = (id: string, at: number | undefined) => {
    const thread = threads.get(current);
    const after = thread?.last ?? null;
    if (thread !== undefined) thread.last = id;
    return { id, after, at };
  };
  function* add(
    id: string,
    at: number | undefined,
    type: string,
    data: WideJsonObject,
  ): Iterable<ForeignItem> {
    const items = threads.get(current)?.items;
    if (items === undefined) return;
    if (type === 'user.message') {
      const said = textOf(data['transformedContent']) ?? textOf(data['content']) ?? '';
      const files = listOf(data['attachments']).length;
      if (files > 0) yield { kind: 'dropped', what: 'attachment', count: files };
      yield items.add({ role: 'user', content: said }, place(id, at));
    } else if (type === 'system.message') {
      const role = data['role'] === 'developer' ? 'developer' : 'system';
      yield items.add({ role, content: textOf(data['content']) ?? '' }, place(id, at));
    } else if (type === 'assistant.message')
      yield items.add(answerOf(data), {
        ...place(id, at),
        model: nonEmpty(data['model']) ?? model,
        usage: usageOf(data),
      });
    else yield items.add(resultOf(data), place(id, at));
  }
  function* other(
    type: string,
    id: string,
    at: number | undefined,
    data: WideJsonObject,
  ): Iterable<ForeignItem> {
    if (type === 'abort') yield { kind: 'count', what: 'aborted' };
    else if (type === 'session.model_change') model = nonEmpty(data['newModel']) ?? model;
    else if (type === 'session.title_changed') {
      yield* threadOf(undefined);
      yield { kind: 'conversation', key: session, title: nonEmpty(data['title']) };
    } else if (type === 'session.compaction_complete' && data['success'] === true) {
      yield* threadOf(undefined);
      yield { kind: 'compaction' };
      const summary = nonEmpty(data['summaryContent']);
      const items = threads.get(session)?.items;
      if (summary !== undefined && items !== undefined)
        yield items.add({ role: 'user', content: summary }, place(id, at));
    } else if (type === 'session.snapshot_rewind') yield* rewind(textOf(data['upToEventId']) ?? '');
    else if (!REPEATED.test(type)) yield { kind: 'dropped', what: `event ${type.slice(0, 60)}` };
  }
  function* rewind(to: string): Iterable<ForeignItem> {
    yield* threadOf(undefined);
    const thread = threads.get(session);
    const last = before.get(to);
    if (last === undefined)
      yield { kind: 'warning', code: 'W_PARENT_MISSING', where: `rewind to ${to.slice(0, 60)}` };
    else if (thread !== undefined) thread.last = last;
  }
  return {
    head: () => threadOf(undefined),
    *event(value, where) {
      const { type, data, id, timestamp } = objectOf(value);
      if (typeof type !== 'string' || typeof id !== 'string' || !isJsonObject(data)) {
        yield { kind: 'warning', code: 'W_VALUE_UNREAD', where };
        return;
      }
      if (before.has(id)) {
        yield { kind: 'warning', code: 'W_REPEATED', where };
        return;
      }
      before.set(id, threads.get(session)?.last ?? null);
      const at = timeOf(timestamp);
      if (!READ.has(type)) {
        yield* other(type, id, at, data);
        return;
      }
      yield* threadOf(nonEmpty(data['parentToolCallId']));
      yield* add(id, at, type, data);
    },
  };
};

const READ = new Set(['user.message', 'system.message', 'assistant.message', 'tool.execution_complete']);

const answerOf = (data: WideJsonObject): WideJsonObject => {
  const { content, reasoningText, reasoningOpaque, encryptedContent, toolRequests } = data;
  const said = textOf(content) ?? '';
  const thought = textOf(reasoningText);
  const opaque = textOf(reasoningOpaque) ?? textOf(encryptedContent);
  const calls = listOf(toolRequests).flatMap((request) => {
    const { toolCallId, name, arguments: given } = objectOf(request);
    if (typeof toolCallId !== 'string' || typeof name !== 'string') return [];
    const text = typeof given === 'string' ? given : canonicalJson(given ?? {});
    return [{ id: toolCallId, type: 'function', function: { name, arguments: text } }];
  });
  const parts = [
    ...(thought === undefined && opaque === undefined
      ? []
      : [{ type: 'thinking', thinking: thought ?? '', ...(opaque !== undefined && { signature: opaque }) }]),
    ...(said === '' ? [] : [{ type: 'text', text: said }]),
  ];
  const isPlain = thought === undefined && opaque === undefined;
  return {
    role: 'assistant',
    content: isPlain ? (said === '' && calls.length > 0 ? null : said) : parts,
    ...(calls.length > 0 && { tool_calls: calls }),
  };
};

const resultOf = (data: WideJsonObject): WideJsonObject => {
  const { toolCallId, success, result, error } = data;
  const said = textOf(objectOf(result)['content']) ?? textOf(objectOf(error)['message']) ?? '';
  return {
    role: 'tool',
    ...(typeof toolCallId === 'string' && { tool_call_id: toolCallId }),
    content: said,
    ...(success === false && { is_error: true }),
  };
};

/** The file has the tokens of answers; those of what was asked are in events that are not stored. */
const usageOf = ({ outputTokens }: WideJsonObject): CallUsage | null => {
  const output = countOf(outputTokens);
  return output === null ? null : { input: null, output, cached: null, cacheWrite: null, reasoning: null };
};
