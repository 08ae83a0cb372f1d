import { isJsonObject, type WideJson, type WideJsonObject } from '@stemma/canonical';
import { isStemmaError } from '@stemma/errors';
import { responsesMessages, textOfContent } from '@stemma/model-apis';
import { nameOfMessages } from '../../name-of-messages.ts';
import { listOf, objectOf, textOf, timeOf } from '../fields.ts';
import { shortHash } from '../short-hash.ts';
import type { ForeignCall, ForeignItem, MissingPart } from '../item.ts';
import { readTokens, sameTokens, type Tokens } from './tokens.ts';

/** A response of the model whose items are still coming. */
type Response = {
  readonly items: WideJson[];
  readonly at: number | undefined;
  /** What it was asked with: the turn after it may have other settings. */
  readonly asked: Asked;
  tokens: Tokens | null;
  /** Results of its calls, and what else came while it was not known to be whole. */
  readonly behind: ForeignItem[];
  /** True once something stands behind it: another item of the model is of another response. */
  isOver: boolean;
  aborted: boolean;
};

type Asked = Pick<ForeignCall, 'model' | 'parameters' | 'tools'>;

/** Items of a session that neither a person nor the model said. */
const BESIDE: ReadonlySet<string> = new Set([
  'ghost_snapshot',
  'compaction_trigger',
  'compaction',
  'context_compaction',
]);

/**
 * Reads the lines of a rollout. What the model makes in one go is one response; the running total of tokens, which is written when a
 * response is whole, tells them apart where they follow each other, and each total that differs from the one before is one.
 */
export class Rollout {
  #response: Response | null = null;
  #total: Tokens | null = null;
  #isBegun = false;
  /** What came before the first words of a person, after which the conversation is called. */
  readonly #waiting: ForeignItem[] = [];
  #session = 'rollout';
  #version: string | undefined;
  #parent: string | undefined;
  #title: string | undefined;
  #model: string | null = null;
  #parameters: { readonly [name: string]: WideJson } = {};
  #tools: readonly WideJson[] | null = null;
  #hasInstructions = false;
  #countsTokens = false;
  /** Hashes of the messages so far: a compaction repeats those that stay. */
  readonly #said = new Set<string>();
  #calls = 0;
  #messages = 0;
  /** What the thread holds since it was compacted last, and which of it begins a turn of a person. */
  #thread: { readonly id: string; readonly beginsTurn: boolean }[] = [];
  #isCompacted = false;
  /** Calls of the tool that starts a thread, whose results are to come. */
  readonly #spawning = new Set<string>();
  /** Where the next item goes on, after a person went back; undefined: behind the last one. */
  #after: string | null | undefined;

  *line(line: WideJsonObject, where: string): Iterable<ForeignItem> {
    const type = textOf(line['type']) ?? 'without a type';
    const payload = objectOf(line['payload']);
    const at = timeOf(line['timestamp']);
    yield { kind: 'time', at };
    if (type === 'response_item') yield* this.#item(payload, at, where);
    else if (type === 'event_msg') yield* this.#event(payload, at);
    else if (type === 'session_meta') yield* this.#meta(payload, at);
    else if (type === 'turn_context') this.#context(payload);
    else if (type === 'compacted') yield* this.#compacted(payload, at, where);
    else if (type !== 'token_usage_record') yield* this.#out([{ kind: 'dropped', what: `line ${type}` }]);
  }

  *end(): Iterable<ForeignItem> {
    // Where responses end with a total, one without is still coming: its items become one message, which cannot be made of some of them.
    const response = this.#response;
    const isComing =
      this.#countsTokens &&
      response !== null &&
      !response.isOver &&
      !response.aborted &&
      // What it says to a person is the last thing that it says.
      objectOf(response.items.at(-1))['type'] !== 'message';
    if (isComing)
      yield {
        kind: 'dropped',
        what: 'items of a response that is still coming',
        count: response.items.length,
      };
    yield* this.#out(this.#closed().map((item) => (item.kind === 'call' ? { ...item, isComing } : item)));
    if (!this.#isBegun && this.#waiting.some(({ kind }) => kind === 'message')) yield* this.#begin();
    else if (!this.#isBegun) yield* this.#waiting;
  }

  *#begin(): Iterable<ForeignItem> {
    this.#isBegun = true;
    yield {
      ...{ kind: 'conversation', key: this.#session, version: this.#version, title: this.#title },
      ...(this.#parent !== undefined && { parent: { key: this.#parent }, sidechain: true }),
    };
    yield* this.#waiting.splice(0);
  }

  /** Items of the conversation, which begins when somebody has said something. */
  *#out(given: readonly ForeignItem[]): Iterable<ForeignItem> {
    const items = given.map((item) => this.#withId(item));
    if (!this.#isBegun) {
      this.#waiting.push(...items);
      const speaks = this.#title !== undefined || items.some(({ kind }) => kind === 'call');
      if (speaks || this.#waiting.length > MOST_WAITING) yield* this.#begin();
      return;
    }
    yield* items;
  }

  /** The item with its id, and where it goes on. */
  #withId(item: ForeignItem): ForeignItem {
    if (item.kind === 'compaction') {
      this.#thread = [];
      this.#isCompacted = true;
    }
    if (item.kind !== 'message' && item.kind !== 'call') return item;
    const id = item.id ?? `message ${(this.#messages += 1)}`;
    const beginsTurn = item.kind === 'message' && item.role === 'user' && !isOfProgram(item.messages);
    this.#thread.push({ id, beginsTurn });
    const after = this.#after;
    this.#after = undefined;
    return { ...item, id, ...(after !== undefined && { after }) };
  }

  /** A person took back the last turns: what comes next follows what stands before them. */
  *#rolledBack(event: WideJsonObject): Iterable<ForeignItem> {
    yield* this.#out(this.#closed());
    const { num_turns: count } = event;
    const turns = this.#thread.flatMap(({ beginsTurn }, index) => (beginsTurn ? [index] : []));
    const from =
      typeof count === 'number' && count > 0 ? turns.at(-Math.min(count, turns.length)) : undefined;
    if (from === undefined || (from === 0 && this.#isCompacted)) {
      yield* this.#out([{ kind: 'dropped', what: 'event thread_rolled_back' }]);
      return;
    }
    this.#thread = this.#thread.slice(0, from);
    this.#after = this.#thread.at(-1)?.id ?? null;
  }

  *#meta(payload: WideJsonObject, at: number | undefined): Iterable<ForeignItem> {
    // A session that goes on from another one repeats what that one said of itself.
    if (this.#session !== 'rollout') {
      yield* this.#out([{ kind: 'dropped', what: 'line session_meta' }]);
      return;
    }
    this.#session = textOf(payload['id']) ?? textOf(payload['session_id']) ?? this.#session;
    this.#version = textOf(payload['cli_version']);
    // Every version that says its number writes totals.
    this.#countsTokens = this.#version !== undefined;
    const spawned = objectOf(objectOf(objectOf(payload['source'])['subagent'])['thread_spawn']);
    this.#parent = textOf(spawned['parent_thread_id']);
    const said = textOf(objectOf(payload['base_instructions'])['text']) ?? textOf(payload['instructions']);
    if (said === undefined || said === '') return;
    this.#hasInstructions = true;
    yield* this.#out([
      { kind: 'message', role: 'system', messages: [{ role: 'system', content: said }], at },
    ]);
  }

  #context(payload: WideJsonObject): void {
    this.#model = textOf(payload['model']) ?? this.#model;
    const { effort, summary } = payload;
    this.#parameters = {
      ...(typeof effort === 'string' && { reasoning_effort: effort }),
      ...(typeof summary === 'string' && { reasoning_summary: summary }),
    };
  }

  *#item(item: WideJsonObject, at: number | undefined, where: string): Iterable<ForeignItem> {
    const type = textOf(item['type']) ?? 'without a type';
    const role = textOf(item['role']);
    if (type === 'additional_tools') {
      this.#tools = listOf(item['tools']);
      return;
    }
    if (BESIDE.has(type)) {
      yield* this.#out([{ kind: 'dropped', what: `item ${type}` }]);
      return;
    }
    const isResult = type.endsWith('_output') || type === 'tool_search_output';
    if (isResult || (type === 'message' && role !== 'assistant')) {
      const messages = messagesOf([bare(item)]);
      const read: ForeignItem =
        messages === null
          ? { kind: 'warning', code: 'W_VALUE_UNREAD', where }
          : { kind: 'message', role: isResult ? 'tool' : (role ?? 'user'), messages, at };
      const started = isResult ? this.#startedBy(item) : [];
      if (isResult && this.#response !== null) {
        this.#response.isOver = true;
        this.#response.behind.push(read, ...started);
        return;
      }
      if (role === 'user' && messages !== null && !isOfProgram(messages))
        this.#title ??= nameOfMessages(messages);
      for (const message of messages ?? []) this.#said.add(hashOf(message));
      yield* this.#out([...this.#closed(), read, ...started]);
      return;
    }
    if (this.#response?.isOver === true) yield* this.#out(this.#closed());
    if (item['name'] === SPAWN) this.#spawning.add(textOf(item['call_id']) ?? '');
    this.#response ??= this.#opened(at, null);
    this.#response.items.push(bare(item));
  }

  /** The thread that the tool for it started: its result names it. */
  #startedBy({ call_id: id, output }: WideJsonObject): readonly ForeignItem[] {
    if (typeof id !== 'string' || !this.#spawning.delete(id)) return [];
    const key = /"agent_id"\s*:\s*"([^"\\]{1,256})"/.exec(textOf(output) ?? '')?.[1];
    return key === undefined ? [] : [{ kind: 'sub-agent', key, toolCall: id }];
  }

  *#event(event: WideJsonObject, at: number | undefined): Iterable<ForeignItem> {
    const type = textOf(event['type']) ?? 'without a type';
    if (type === 'token_count') {
      this.#countsTokens = true;
      yield* this.#counted(objectOf(event['info']), at);
      return;
    }
    if (type === 'turn_aborted') {
      if (this.#response !== null) this.#response.aborted = true;
      else yield* this.#out([{ kind: 'count', what: 'aborted' }]);
      return;
    }
    if (type === 'thread_rolled_back') {
      yield* this.#rolledBack(event);
      return;
    }
    if (type === 'collab_agent_spawn_end') {
      const [key, toolCall] = [textOf(event['new_thread_id']), textOf(event['call_id'])];
      if (key !== undefined && toolCall !== undefined)
        yield* this.#out([{ kind: 'sub-agent', key, toolCall }]);
    }
    // The others repeat what stands in items, for the screen.
    yield* this.#out([{ kind: 'dropped', what: `event ${type}` }]);
  }

  *#counted(info: WideJsonObject, at: number | undefined): Iterable<ForeignItem> {
    const total = readTokens(info['total_token_usage']);
    if (total === null || (this.#total !== null && sameTokens(total, this.#total))) return;
    const last = readTokens(info['last_token_usage']);
    const own = last ?? differenceOf(total, this.#total);
    this.#total = total;
    if (this.#response !== null && this.#response.tokens === null) {
      this.#response.tokens = own;
      this.#response.isOver = true;
      return;
    }
    // A response of which no item is recorded: of a compaction, for instance.
    const items = this.#closed();
    this.#response = this.#opened(at, own);
    yield* this.#out([...items, ...this.#closed()]);
  }

  *#compacted(payload: WideJsonObject, at: number | undefined, where: string): Iterable<ForeignItem> {
    const items: ForeignItem[] = [...this.#closed(), { kind: 'compaction' }];
    const replaced = listOf(payload['replacement_history']);
    const message = textOf(payload['message']) ?? '';
    const messages =
      replaced.length > 0
        ? messagesOf(replaced.map((each) => (isJsonObject(each) ? bare(each) : each)))
        : message === ''
          ? []
          : [{ role: 'user', content: message }];
    if (messages === null) items.push({ kind: 'warning', code: 'W_VALUE_UNREAD', where });
    else
      for (const each of messages)
        items.push({
          ...{ kind: 'message', role: textOf(each['role']) ?? 'user', messages: [each], at },
          again: this.#said.has(hashOf(each)),
        });
    yield* this.#out(items);
  }

  /** @param tokens null: its items are coming */
  #opened(at: number | undefined, tokens: Tokens | null): Response {
    const asked: Asked = { model: this.#model, parameters: this.#parameters, tools: this.#tools };
    return { items: [], at, asked, tokens, behind: [], isOver: tokens !== null, aborted: false };
  }

  /** The response whose items have come, and what stands behind it. */
  #closed(): readonly ForeignItem[] {
    const response = this.#response;
    this.#response = null;
    if (response === null) return [];
    const messages = messagesOf(response.items);
    const answer = messages?.[0] ?? null;
    // Together they are one message; each may stand alone where they are repeated.
    const each = response.items.flatMap((item) => messagesOf([item]) ?? []);
    for (const message of [...(messages ?? []), ...each]) this.#said.add(hashOf(message));
    const { tokens, at, aborted, asked } = response;
    this.#calls += 1;
    const missing: MissingPart[] = [
      ...(this.#hasInstructions ? [] : (['system prompt'] as const)),
      ...(asked.tools == null ? (['tools'] as const) : []),
      ...(Object.keys(asked.parameters ?? {}).length === 0 ? (['parameters'] as const) : []),
      ...(answer === null ? (['answer'] as const) : []),
      ...(tokens === null ? (['usage'] as const) : []),
    ];
    const call: ForeignCall = {
      kind: 'call',
      id: `response ${this.#calls}`,
      ...asked,
      answer,
      // Its end is a command of its own: the total may come when the file has grown.
      soFar: [],
      at,
      aborted,
      missing,
      usage: tokens,
      status: aborted ? 'cancelled' : 'answered',
    };
    return [call, ...response.behind];
  }
}

/** What Codex says in a person's place: `<environment_context>…`. */
const isOfProgram = (messages: readonly WideJsonObject[]): boolean =>
  /^\s*<[a-z_]+>/.test(textOfContent(messages[0]?.['content']));

/** Of what it says: an item may get another id. */
const hashOf = ({ role, content, tool_calls: calls }: WideJsonObject): string =>
  shortHash([role ?? null, content ?? null, calls ?? null]);

/** The tool that starts a thread. */
const SPAWN = 'spawn_agent';

/** So many items may stand before the first words of a person. */
const MOST_WAITING = 1_000;

/** An item without what Codex writes for itself. */
const bare = (item: WideJsonObject): WideJsonObject => {
  const { internal_chat_message_metadata_passthrough: _own, ...rest } = item;
  return rest;
};

const messagesOf = (items: readonly WideJson[]): readonly WideJsonObject[] | null => {
  if (items.length === 0) return [];
  try {
    return responsesMessages(undefined, items);
  } catch (error) {
    if (!isStemmaError(error)) throw error;
    return null;
  }
};

/** What a total grew by; one that fell back is a count of its own. */
const differenceOf = (total: Tokens, before: Tokens | null): Tokens => {
  if (before === null) return total;
  const keys = ['input', 'output', 'cached', 'cacheWrite', 'reasoning'] as const;
  if (keys.some((key) => (total[key] ?? 0) < (before[key] ?? 0))) return total;
  const less = (key: (typeof keys)[number]): number | null => {
    const now = total[key];
    return now === null ? null : now - (before[key] ?? 0);
  };
  return {
    input: less('input'),
    output: less('output'),
    cached: less('cached'),
    cacheWrite: less('cacheWrite'),
    reasoning: less('reasoning'),
  };
};
