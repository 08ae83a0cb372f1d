import { isJsonObject, type WideJson, type WideJsonObject } from '@stemma/canonical';
import { fail } from '@stemma/errors';
import type { CallUsage } from '@stemma/events';
import { geminiMessages } from '@stemma/model-apis';
import { openChatItems, type ChatItems } from './chat-items.ts';
import { countOf, isList, listOf, nonEmpty, objectOf, textOf, timeOf, type Field } from './fields.ts';
import type { ForeignItem } from './item.ts';
import type { ForeignReader } from './reader.ts';

/**
 * Sessions of Gemini CLI, `~/.gemini/tmp/HASH/chats/session-….json` and `.jsonl`: `{sessionId, projectHash, messages: [{id, timestamp, type: 'user',
 * content}, {type: 'gemini', content, thoughts, toolCalls, tokens, model}]}`, or that head and each message on a line of its own, a later
 * line of an id in place of the one before. Each message of type `gemini` is a call. `$rewindTo` begins a branch. Prompts of `logs.json` and the
 * contents of checkpoints are read too.
 */
export const geminiCli: ForeignReader = {
  name: 'gemini-cli',
  mapping: 'gemini-cli@1',
  summary: 'sessions of Gemini CLI: chats/session-*.json and .jsonl, logs.json, checkpoints',
  versions:
    'Gemini CLI 0.8 to 0.61 (chatRecordingTypes.ts: one document; lines with `$set` and `$rewindTo`; contents as texts and parts)',
  recognises: (first) =>
    isHead(first) || isCheckpoint(first) || (isList(first) && first.length > 0 && first.every(isPrompt)),
  async *read(units): AsyncIterable<ForeignItem> {
    let lines: Session | null = null;
    for await (const { value, where, fault } of units) {
      if (fault !== undefined) {
        yield { kind: 'warning', code: 'W_LINE_DAMAGED', where };
        continue;
      }
      if (isList(value)) yield* itemsOfPrompts(value);
      else if (isCheckpoint(value)) yield* itemsOfCheckpoint(value);
      else if (lines === null && isHead(value)) {
        lines = openSession(value);
        yield* lines.head();
        if (isList(value['messages'])) yield* itemsOfDocument(lines, value['messages']);
      } else if (lines === null) throw fail('E_INPUT_SHAPE', `${where} stands before the head of a session`);
      else yield* lines.line(value, where);
    }
    if (lines !== null) yield* lines.end();
  },
};

const isHead = (value: WideJson): value is WideJsonObject =>
  isJsonObject(value) && typeof value['sessionId'] === 'string' && typeof value['projectHash'] === 'string';

const isPrompt = (value: WideJson): boolean =>
  isJsonObject(value) &&
  typeof value['sessionId'] === 'string' &&
  typeof value['messageId'] === 'number' &&
  typeof value['message'] === 'string';

const isCheckpoint = (value: WideJson): value is WideJsonObject =>
  isJsonObject(value) && isList(value['clientHistory']) && value['clientHistory'].every(isContent);

const isContent = (value: WideJson): boolean =>
  isJsonObject(value) && typeof value['role'] === 'string' && isList(value['parts']);

/** The prompts of all sessions of a project: what the model said is not in this file. */
function* itemsOfPrompts(prompts: readonly WideJson[]): Iterable<ForeignItem> {
  for (const prompt of prompts) {
    const { sessionId, type, message, timestamp } = objectOf(prompt);
    if (type !== 'user' || typeof message !== 'string') {
      yield { kind: 'dropped', what: `log entry ${(textOf(type) ?? 'without a type').slice(0, 60)}` };
      continue;
    }
    yield { kind: 'conversation', key: textOf(sessionId) ?? '' };
    const at = timeOf(timestamp);
    yield {
      kind: 'message',
      role: 'user',
      messages: [{ role: 'user', content: message }],
      ...(at !== undefined && { at }),
    };
  }
}

/** What stood in the context before a tool was allowed to change files. */
function* itemsOfCheckpoint(value: WideJsonObject): Iterable<ForeignItem> {
  yield { kind: 'conversation', key: null };
  const { clientHistory, history, toolCall, commitHash, filePath } = value;
  const items = openChatItems();
  for (const message of geminiMessages(undefined, clientHistory)) yield items.add(message);
  for (const [name, field] of Object.entries({ history, toolCall, commitHash, filePath }))
    if (field !== undefined)
      yield { kind: 'dropped', what: `field ${name}`, count: isList(field) ? field.length : 1 };
}

function* itemsOfDocument(session: Session, messages: readonly WideJson[]): Iterable<ForeignItem> {
  for (const [index, message] of messages.entries()) yield* session.line(message, `message ${index}`);
}

type Session = {
  readonly head: () => Iterable<ForeignItem>;
  readonly line: (value: WideJson, where: string) => Iterable<ForeignItem>;
  readonly end: () => Iterable<ForeignItem>;
};

/** A message that may still be written again, with more of its calls and tokens. */
type OpenMessage = { readonly id: string; value: WideJsonObject };

const openSession = (head: WideJsonObject): Session => {
  const turns = openTurns();
  /** The message before each message. */
  const before = new Map<string, string | null>();
  let last: string | null = null;
  let open: OpenMessage | null = null;
  function* close(): Iterable<ForeignItem> {
    if (open === null) return;
    const { id, value } = open;
    open = null;
    const follows = last;
    before.set(id, last);
    const items = [...turns.items(value, id, follows)];
    // What is no part of the conversation (a hint on the screen) is followed by nothing.
    if (items.some(({ kind }) => kind === 'message' || kind === 'call')) last = id;
    yield* items;
  }
  function* rewind(to: string): Iterable<ForeignItem> {
    yield* close();
    const known = before.get(to);
    if (known === undefined)
      yield { kind: 'warning', code: 'W_PARENT_MISSING', where: `$rewindTo ${to.slice(0, 60)}` };
    last = known ?? null;
  }
  function* replace(messages: readonly WideJson[]): Iterable<ForeignItem> {
    yield* close();
    const ids = messages.map((message) => textOf(objectOf(message)['id']) ?? '');
    const fresh = messages.filter((_message, index) => !before.has(ids[index] ?? ''));
    if (fresh.length === 0) {
      yield { kind: 'dropped', what: 'message written again', count: messages.length };
      return;
    }
    if (before.size > 0) yield { kind: 'compaction', keeps: ids.filter((id) => before.has(id)) };
    last = ids.findLast((id) => before.has(id)) ?? null;
    for (const [index, message] of fresh.entries()) yield* session.line(message, `$set, message ${index}`);
    yield* close();
  }
  const session: Session = {
    *head() {
      const { summary, kind } = head;
      yield {
        kind: 'conversation',
        key: textOf(head['sessionId']) ?? '',
        title: nonEmpty(summary),
        ...(kind === 'subagent' && { sidechain: true }),
      };
    },
    *line(value, where) {
      if (!isJsonObject(value)) {
        yield { kind: 'warning', code: 'W_VALUE_UNREAD', where };
        return;
      }
      const { id, $rewindTo: to, $set: set } = value;
      if (typeof to === 'string') yield* rewind(to);
      else if (typeof id === 'string') {
        if (open?.id !== id) yield* close();
        if (before.has(id)) yield { kind: 'warning', code: 'W_REPEATED', where };
        else open = { id, value };
      } else if (isJsonObject(set)) {
        if (isList(set['messages'])) yield* replace(set['messages']);
        const title = nonEmpty(set['summary']);
        if (title !== undefined) yield { kind: 'conversation', key: textOf(head['sessionId']) ?? '', title };
      } else if (!isHead(value)) yield { kind: 'dropped', what: 'line without an id' };
    },
    end: close,
  };
  return session;
};

/** The turns of a session as Gemini's contents, and what they became. */
const openTurns = () => {
  const items = openChatItems();
  const answered = new Set<string>();
  return {
    *items(value: WideJsonObject, id: string, after: string | null): Iterable<ForeignItem> {
      const { type, content, timestamp } = value;
      const at = timeOf(timestamp);
      if (type === 'gemini') {
        yield* itemsOfAnswer(value, { id, after, at }, items, answered);
        return;
      }
      if (type !== 'user') {
        yield { kind: 'dropped', what: `message ${(textOf(type) ?? 'without a type').slice(0, 60)}` };
        return;
      }
      const parts = partsOf(content).filter((part) => !repeatsResult(part, answered));
      // The results of a message stood with its calls already.
      if (parts.length === 0 && partsOf(content).length > 0) return;
      const [first, ...rest] = messagesOf('user', parts);
      if (first === undefined) return;
      yield items.add(first, { id, after, at });
      for (const message of rest) yield items.add(message, { at });
    },
  };
};

type Place = { readonly id: string; readonly after: string | null; readonly at: number | undefined };

function* itemsOfAnswer(
  value: WideJsonObject,
  place: Place,
  items: ChatItems,
  answered: Set<string>,
): Iterable<ForeignItem> {
  const { content, thoughts, toolCalls, tokens, model } = value;
  const said = partsOf(content);
  const known = new Set(said.map((part) => callIdOf(part)).filter((id) => id !== undefined));
  const calls = listOf(toolCalls).filter((call) => isJsonObject(call) && typeof call['name'] === 'string');
  if (calls.length < listOf(toolCalls).length)
    yield { kind: 'warning', code: 'W_VALUE_UNREAD', where: place.id };
  const hasThought = said.some((part) => isJsonObject(part) && part['thought'] === true);
  const parts = [
    ...(hasThought ? [] : listOf(thoughts).flatMap(thoughtPart)),
    ...said,
    ...calls.flatMap((call) => callPart(objectOf(call), known)),
  ];
  const [answer = { role: 'assistant', content: '' }, ...rest] = messagesOf('model', parts);
  yield items.add(answer, {
    ...place,
    model: nonEmpty(model) ?? null,
    usage: usageOf(tokens),
    stated: statedIn(tokens),
  });
  for (const message of rest) yield items.add(message, { at: place.at });
  for (const call of calls)
    for (const message of resultsOf(objectOf(call), answered))
      yield items.add(message, { at: timeOf(objectOf(call)['timestamp']) });
}

const messagesOf = (role: 'user' | 'model', parts: readonly WideJson[]): readonly WideJsonObject[] =>
  parts.length === 0 ? [] : geminiMessages(undefined, [{ role, parts }]);

/** A content is a text, a part, or a list of both. */
const partsOf = (content: Field): readonly WideJson[] => {
  if (content === undefined || content === null || content === '') return [];
  return (isList(content) ? content : [content]).map((part) =>
    typeof part === 'string' ? { text: part } : part,
  );
};

const thoughtPart = (thought: WideJson): readonly WideJsonObject[] => {
  const { subject, description } = objectOf(thought);
  const text = [
    nonEmpty(subject) === undefined ? undefined : `**${textOf(subject) ?? ''}**`,
    nonEmpty(description),
  ]
    .filter((part) => part !== undefined)
    .join('\n');
  return text === '' ? [] : [{ text, thought: true }];
};

const callIdOf = (part: WideJson): string | undefined => {
  const call = objectOf(part)['functionCall'];
  return isJsonObject(call) ? (textOf(call['id']) ?? textOf(call['name'])) : undefined;
};

const callPart = (
  { id, name, args, thoughtSignature }: WideJsonObject,
  known: ReadonlySet<string>,
): readonly WideJsonObject[] => {
  if ((typeof id === 'string' && known.has(id)) || (typeof name === 'string' && known.has(name))) return [];
  return [
    {
      functionCall: {
        ...(typeof id === 'string' && { id }),
        name: name ?? '',
        args: isJsonObject(args) ? args : {},
      },
      ...(typeof thoughtSignature === 'string' && { thoughtSignature }),
    },
  ];
};

const resultIdOf = (part: WideJson): string | undefined => {
  const result = objectOf(part)['functionResponse'];
  return isJsonObject(result) ? textOf(result['id']) : undefined;
};

const repeatsResult = (part: WideJson, answered: ReadonlySet<string>): boolean => {
  const id = resultIdOf(part);
  return id !== undefined && answered.has(id);
};

/** The messages with the result of a call: what the tool gave the model, not what was on the screen. */
const resultsOf = (call: WideJsonObject, answered: Set<string>): readonly WideJsonObject[] => {
  const { id, name, result, status } = call;
  const given = partsOf(result);
  if (given.length === 0 || typeof name !== 'string') return [];
  if (typeof id === 'string') answered.add(id);
  const hasFailed = status === 'error' || status === 'cancelled';
  // One call may have the results of all calls of its turn: the others have their own.
  const own = given.filter((part) => resultIdOf(part) === undefined || resultIdOf(part) === id);
  const isPlain = !own.some((part) => isJsonObject(part) && isJsonObject(part['functionResponse']));
  const parts = isPlain
    ? [
        {
          functionResponse: {
            ...(typeof id === 'string' && { id }),
            name,
            response: { output: textOfParts(own) },
          },
        },
      ]
    : own;
  return messagesOf('user', parts).map((message) =>
    hasFailed && message['role'] === 'tool' ? { ...message, is_error: true } : message,
  );
};

const textOfParts = (parts: readonly WideJson[]): string =>
  parts.map((part) => textOf(objectOf(part)['text']) ?? '').join('');

/** The counts as they stand in the file. */
const statedIn = (tokens: Field): CallUsage | null => {
  if (!isJsonObject(tokens)) return null;
  const { input, output, cached, thoughts } = tokens;
  const [prompt, said] = [countOf(input), countOf(output)];
  return prompt === null && said === null
    ? null
    : {
        input: prompt,
        output: said,
        cached: countOf(cached),
        cacheWrite: null,
        reasoning: countOf(thoughts),
      };
};

/** As Gemini's API counts: what was thought, and what tools brought, beside the rest. */
const usageOf = (tokens: Field): CallUsage | null => {
  if (!isJsonObject(tokens)) return null;
  const { input, output, cached, thoughts, tool } = tokens;
  const [prompt, said, thought] = [countOf(input), countOf(output), countOf(thoughts)];
  if (prompt === null && said === null) return null;
  return {
    input: prompt === null ? null : prompt + (countOf(tool) ?? 0),
    output: said === null ? null : said + (thought ?? 0),
    cached: countOf(cached),
    cacheWrite: null,
    reasoning: thought,
  };
};
