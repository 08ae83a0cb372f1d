import { isJsonObject, type WideJson, type WideJsonObject } from '@stemma/canonical';
import { isStemmaError } from '@stemma/errors';
import { anthropicMessages } from '@stemma/model-apis';
import { nameOfMessages } from '../../name-of-messages.ts';
import { isList, listOf, objectOf, textOf, timeOf } from '../fields.ts';
import type { ForeignItem } from '../item.ts';
import { isOfSynthetic, openAnswer, type OpenAnswer } from './answer.ts';
import { openThreads, type Threads } from './threads.ts';

/** A conversation of the file: that of the session, or of a sub-agent. */
type Talk = {
  readonly key: string;
  readonly threads: Threads;
  title: string | undefined;
  readonly parent: { readonly key: string } | undefined;
  /** The answer whose lines are still coming, and what came behind its first line. */
  answer: OpenAnswer | null;
  waiting: ForeignItem[];
  /** True from a boundary on until the summary that follows it. */
  isCompacted: boolean;
};

/** Reads the lines of a file: those of a session, and of its sub-agents where they stand among them. */
export class ClaudeSession {
  readonly #talks = new Map<string, Talk>();
  /** Uuids of lines, and ids of answers, that came before. */
  readonly #lines = new Set<string>();
  readonly #answers = new Set<string>();
  /** Of which sub-agent a line is, by its uuid: they stand among the lines of old versions. */
  readonly #talkOfLine = new Map<string, string>();
  /** The sub-agents whose tool calls are known. */
  readonly #started = new Set<string>();
  /** The key of the conversation that was named last. */
  #current: string | null = null;
  #sessionId: string | undefined;
  #version: string | undefined;

  *line(line: WideJsonObject, where: string): Iterable<ForeignItem> {
    const type = textOf(line['type']) ?? 'without a type';
    this.#version = textOf(line['version']) ?? this.#version;
    this.#sessionId ??= textOf(line['sessionId']);
    const uuid = textOf(line['uuid']);
    if (uuid === undefined) {
      yield* droppedLine(line, type);
      return;
    }
    if (this.#lines.has(uuid)) {
      yield { kind: 'warning', code: 'W_REPEATED', where };
      return;
    }
    this.#lines.add(uuid);
    const talk = this.#talkOf(line);
    if (type === 'user') yield* this.#user(line, talk, where);
    else if (type === 'assistant') yield* this.#assistant(line, talk, where);
    else if (type === 'system') yield* this.#system(line, talk);
    else {
      talk.threads.passes(line);
      yield* this.#of(talk, this.#progress(line));
      yield* droppedLine(line, type);
    }
  }

  *end(): Iterable<ForeignItem> {
    for (const talk of this.#talks.values()) yield* this.#of(talk, closed(talk));
  }

  /** Items of a conversation; it begins with the first of them. */
  *#of(talk: Talk, items: readonly ForeignItem[]): Iterable<ForeignItem> {
    if (items.length === 0) return;
    if (this.#current !== talk.key) {
      const { key, title, parent } = talk;
      yield {
        ...{ kind: 'conversation', key, version: this.#version, title },
        ...(parent !== undefined && { parent, sidechain: true }),
      };
      this.#current = key;
    }
    yield* items;
  }

  #talkOf(line: WideJsonObject): Talk {
    const agent = textOf(line['agentId']);
    const uuid = textOf(line['uuid']) ?? '';
    const parent = textOf(line['parentUuid']);
    const isSide = line['isSidechain'] === true;
    const session = this.#sessionId ?? 'session';
    const known = parent === undefined ? undefined : this.#talkOfLine.get(parent);
    const key = !isSide
      ? session
      : agent === undefined
        ? (known ?? `${session}:${uuid}`)
        : `${session}:${agent}`;
    if (isSide) this.#talkOfLine.set(uuid, key);
    const found = this.#talks.get(key) ?? {
      key,
      threads: openThreads(),
      title: undefined,
      parent: isSide ? { key: session } : undefined,
      answer: null,
      waiting: [],
      isCompacted: false,
    };
    this.#talks.set(key, found);
    return found;
  }

  *#user(line: WideJsonObject, talk: Talk, where: string): Iterable<ForeignItem> {
    const message = objectOf(line['message']);
    const isResult = holdsResult(message['content']);
    const isSummary = line['isCompactSummary'] === true;
    const isPrompt = !isResult && !isSummary && line['isMeta'] !== true;
    const { after, warnings } = talk.threads.follow(line, where, { isPrompt });
    const messages = messagesOf(message);
    const items: ForeignItem[] = [...warnings];
    if (messages === null) items.push({ kind: 'warning', code: 'W_VALUE_UNREAD', where });
    // Versions without a line for it compact where the summary stands.
    if (isSummary && !talk.isCompacted) items.push({ kind: 'compaction' });
    if (isSummary) talk.isCompacted = false;
    if (isPrompt && messages !== null) talk.title ??= nameOfMessages(messages);
    items.push(messageItem(line, 'user', messages ?? [], after));
    if (isResult) items.push(...this.#result(line, message['content']));
    if (isInterruption(message['content'])) items.push({ kind: 'count', what: 'aborted' });
    // Tools run while the answer is still coming: their results stand behind it.
    if (isResult && talk.answer !== null) talk.waiting.push(...items);
    else yield* this.#of(talk, [...closed(talk), ...items]);
  }

  *#assistant(line: WideJsonObject, talk: Talk, where: string): Iterable<ForeignItem> {
    const message = objectOf(line['message']);
    const id = textOf(message['id']) ?? textOf(line['requestId']) ?? textOf(line['uuid']) ?? where;
    if (talk.answer?.id === id) {
      talk.answer.add(message);
      talk.threads.joins(line, talk.answer.first);
      yield timeIn(line);
      return;
    }
    const { after, warnings } = talk.threads.follow(line, where, { isPrompt: false });
    const before = [...closed(talk), ...warnings];
    if (!isOfSynthetic(message) && !this.#answers.has(id)) {
      this.#answers.add(id);
      talk.answer = openAnswer(id, line, message, after);
      yield* this.#of(talk, before);
      return;
    }
    // No answer of a model, or a piece of one that ended before: it is kept where it stands.
    const messages = messagesOf({ role: 'assistant', content: message['content'] ?? '' }) ?? [];
    if (!isOfSynthetic(message)) before.push({ kind: 'warning', code: 'W_REPEATED', where });
    yield* this.#of(talk, [...before, messageItem(line, 'assistant', messages, after)]);
  }

  /** The result of a tool that started a sub-agent names it. */
  #result(line: WideJsonObject, content: WideJson | undefined): readonly ForeignItem[] {
    const agent = textOf(objectOf(line['toolUseResult'])['agentId']);
    const results = listOf(content).filter((block) => objectOf(block)['type'] === 'tool_result');
    // A line that has the results of several tools does not say of which.
    const [result] = results;
    return results.length === 1 ? this.#starts(line, agent, textOf(objectOf(result)['tool_use_id'])) : [];
  }

  #progress(line: WideJsonObject): readonly ForeignItem[] {
    const data = objectOf(line['data']);
    if (data['type'] !== 'agent_progress') return [];
    return this.#starts(line, textOf(data['agentId']), textOf(line['parentToolUseID']));
  }

  #starts(
    line: WideJsonObject,
    agent: string | undefined,
    toolCall: string | undefined,
  ): readonly ForeignItem[] {
    if (agent === undefined || toolCall === undefined) return [];
    const key = `${textOf(line['sessionId']) ?? this.#sessionId ?? 'session'}:${agent}`;
    if (this.#started.has(key)) return [];
    this.#started.add(key);
    return [{ kind: 'sub-agent', key, toolCall }];
  }

  *#system(line: WideJsonObject, talk: Talk): Iterable<ForeignItem> {
    const subtype = textOf(line['subtype']) ?? '';
    if (subtype !== 'compact_boundary') {
      talk.threads.passes(line);
      yield* droppedLine(line, `system ${subtype}`.trim());
      return;
    }
    const items = closed(talk);
    talk.threads.passes(line);
    talk.isCompacted = true;
    yield timeIn(line);
    yield* this.#of(talk, [...items, { kind: 'compaction', keeps: keptBy(line, talk.threads) }]);
  }
}

/** The answer whose lines have come, and what stands behind it. */
const closed = (talk: Talk): ForeignItem[] => {
  const { answer, waiting } = talk;
  talk.answer = null;
  talk.waiting = [];
  return answer === null ? waiting : [...answer.items(), ...waiting];
};

const timeIn = (line: WideJsonObject): ForeignItem => ({ kind: 'time', at: timeOf(line['timestamp']) });

const droppedLine = (line: WideJsonObject, what: string): readonly ForeignItem[] => [
  timeIn(line),
  { kind: 'dropped', what: `line ${what}` },
];

const messageItem = (
  line: WideJsonObject,
  role: string,
  messages: readonly WideJsonObject[],
  after: string | null | undefined,
): ForeignItem => ({
  kind: 'message',
  ...{ role, messages, after, id: textOf(line['uuid']), at: timeOf(line['timestamp']) },
});

/** The messages that a message of the API is; null: it is none. */
const messagesOf = ({ role, content }: WideJsonObject): WideJsonObject[] | null => {
  try {
    return anthropicMessages(undefined, [{ role: role ?? 'user', content: content ?? '' }]);
  } catch (error) {
    if (!isStemmaError(error)) throw error;
    return null;
  }
};

const holdsResult = (content: WideJson | undefined): boolean =>
  isList(content) && content.some((block) => isJsonObject(block) && block['type'] === 'tool_result');

/** What the program writes in a person's place who stopped the model. */
const INTERRUPTED = /^\[Request interrupted by user/;

const isInterruption = (content: WideJson | undefined): boolean =>
  typeof content === 'string'
    ? INTERRUPTED.test(content)
    : listOf(content).some((block) => INTERRUPTED.test(textOf(objectOf(block)['text']) ?? ''));

/** The messages that a boundary says are kept. */
const keptBy = (line: WideJsonObject, threads: Threads): readonly string[] => {
  const segment = objectOf(objectOf(line['compactMetadata'])['preservedSegment']);
  const [head, tail] = [textOf(segment['headUuid']), textOf(segment['tailUuid'])];
  return head === undefined || tail === undefined ? [] : threads.between(head, tail);
};
