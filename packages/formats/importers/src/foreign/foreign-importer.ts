import type { WideJsonObject } from '@stemma/canonical';
import type { Step } from '@stemma/history';
import { chatMessageAt, hashOfTold, LEAST_TOLD, userTexts } from '@stemma/model-apis';
import { defined } from '@stemma/values';
import { checkNode } from '../check-node.ts';
import type { ConversationLinks, Importer, ImporterOutput, Unit } from '../importer.ts';
import { isSystemRole } from '../openai-chat/leading-system.ts';
import { messageToNodes } from '../openai-chat/message-to-nodes.ts';
import { openSummary, type SummaryCounter } from '../summary.ts';
import { conversationBranches } from './branches.ts';
import {
  missingAtStart,
  type ForeignCall,
  type ForeignCompaction,
  type ForeignConversation,
  type ForeignExchange,
  type ForeignItem,
  type ForeignMessage,
  type ForeignSubAgent,
} from './item.ts';
import type { ForeignReader } from './reader.ts';
import { shortHash } from './short-hash.ts';

/**
 * The importer of a format of another program. Every item becomes one command, so that a file which grew gives the same commands and
 * some more: a message is inserted; a call is a commit, which holds what the model was shown, with the facts of the call, and then its
 * answer is inserted. An answer that its file has in several lines is inserted line by line, and its call finished behind them, so that it
 * can go on where a file ended in the middle of it. A message that follows another one than the last begins a branch there.
 */
export const foreignImporter = (reader: ForeignReader): Importer => ({
  name: reader.name,
  mapping: reader.mapping,
  summary: reader.summary,
  passesFaults: true,
  grows: true,
  recognises: reader.recognises,
  ...(reader.takesItems !== undefined && { takesItems: reader.takesItems }),
  read: (units, about) => read(reader, units, about),
});

/** What is known of a file while it is read. */
type FileState = {
  readonly conversations: Conversation[];
  /** Those that the file names. */
  readonly named: Map<string, Conversation>;
  /** What is counted while no conversation has begun: the next one that begins takes it. */
  summary: SummaryCounter;
  current: Conversation | null;
  /** The run of the calls that hold their whole input: the key of the last conversation item. */
  run: string | null;
  version: string | undefined;
};

async function* read(
  reader: ForeignReader,
  units: AsyncIterable<Unit>,
  about?: { readonly mayGrow: boolean },
): AsyncIterable<ImporterOutput> {
  const file: FileState = {
    conversations: [],
    named: new Map(),
    summary: openSummary(),
    current: null,
    run: null,
    version: undefined,
  };
  for await (const item of reader.read(units, about)) {
    if (item.kind === 'exchange') yield { kind: 'exchange', run: file.run, exchange: item };
    else yield* readItem(reader, file, item);
  }
  yield* file.current?.end() ?? [];
  for (const conversation of file.conversations) if (conversation.isBegun) yield conversation.report();
  yield { kind: 'beside', version: file.version, summary: file.summary };
}

function* readItem(
  reader: ForeignReader,
  file: FileState,
  item: Exclude<ForeignItem, ForeignExchange>,
): Iterable<ImporterOutput> {
  if (item.kind === 'conversation') {
    yield* file.current?.end() ?? [];
    const known = item.key === null ? undefined : file.named.get(item.key);
    file.current = known ?? new Conversation(reader.mapping, file, item);
    file.run = item.key;
    file.version = item.version ?? file.version;
    if (known !== undefined) known.about(item);
    else {
      file.conversations.push(file.current);
      if (item.key !== null) file.named.set(item.key, file.current);
    }
    return;
  }
  if (item.kind === 'version') {
    file.version = item.version;
    return;
  }
  const conversation = file.current;
  // A conversation of calls that hold their whole input has no report of its own.
  const summary = conversation?.isBegun === true ? conversation.summary : file.summary;
  if (item.kind === 'dropped') summary.dropped(item.what, item.count);
  else if (item.kind === 'warning') summary.warning(item.code, item.where);
  else if (item.kind === 'count') summary.add(item.what, item.count);
  else if (item.kind === 'time') summary.at(item.at);
  else if (conversation === null)
    throw new TypeError(`${reader.name} gives a ${item.kind} before a conversation`);
  else if (item.kind === 'sub-agent') conversation.starts(item);
  else yield* conversation.add(item);
}

/** A conversation that is read: its items become commands, one frame each. */
class Conversation {
  readonly #file: FileState;
  #summary: SummaryCounter | undefined;
  readonly #mapping: string;
  readonly #index: number;
  readonly #first: ForeignConversation;
  readonly #branches = conversationBranches();
  /** What came of a conversation that its file does not name, until it is known how it begins; null: it has a key. */
  #beginning: ConversationItem[] | null;
  #key: string;
  /** The number of the next message. */
  #ordinal = 0;
  #title: string | undefined;
  #version: string | undefined;
  #lastAt: number | undefined;
  #hasCalls = false;
  readonly #told: string[] = [];
  readonly #started: ForeignSubAgent[] = [];

  constructor(mapping: string, file: FileState, first: ForeignConversation) {
    this.#key = first.key ?? '';
    this.#beginning = first.key === null ? [] : null;
    this.#file = file;
    this.#mapping = mapping;
    this.#index = file.conversations.length;
    this.#first = first;
    this.about(first);
  }

  get isBegun(): boolean {
    return this.#summary !== undefined;
  }

  /** Its counts: what came before it begins is of it. */
  get summary(): SummaryCounter {
    if (this.#summary !== undefined) return this.#summary;
    this.#summary = this.#file.summary;
    this.#file.summary = openSummary();
    if (this.#first.sidechain === true) this.#summary.add('sidechains');
    return this.#summary;
  }

  about({ title, version }: ForeignConversation): void {
    this.#title = title ?? this.#title;
    this.#version = version ?? this.#version;
  }

  *add(item: ConversationItem): Iterable<ImporterOutput> {
    if (this.#beginning === null) yield* this.#add(item);
    else if (this.#beginning.push(item) >= MOST_OF_BEGINNING || item.kind !== 'message') yield* this.end();
  }

  /** Nothing follows for now: what was kept to know how the conversation begins goes out. */
  *end(): Iterable<ImporterOutput> {
    const beginning = this.#beginning;
    this.#beginning = null;
    if (beginning === null || beginning.length === 0) return;
    this.#key = `c${this.#index} of ${shortHash(beginning.flatMap(textsOf))}`;
    for (const item of beginning) yield* this.#add(item);
  }

  *#add(item: ConversationItem): Iterable<ImporterOutput> {
    if (!this.isBegun) yield this.#begin();
    if (item.kind === 'message') yield* this.#message(item);
    else if (item.kind === 'call') yield* this.#call(item);
    else yield* this.#compact(item);
  }

  starts(item: ForeignSubAgent): void {
    this.#started.push(item);
  }

  report(): ImporterOutput {
    return {
      kind: 'report',
      conversation: this.#index,
      report: {
        mapping: this.#mapping,
        read: {},
        skipped: {},
        unknown: {},
        warnings: [],
        moreWarnings: 0,
        ...defined({ version: this.#version, title: this.#title, links: this.#links() }),
        summary: this.summary.summary(),
      },
    };
  }

  #links(): ConversationLinks | undefined {
    const { parent } = this.#first;
    if (parent === undefined && this.#started.length === 0) return undefined;
    const started = this.#started.map(({ key, toolCall }) => ({ key, toolCall }));
    return { key: this.#key, told: this.#told, started, ...defined({ parent }) };
  }

  #begin(): ImporterOutput {
    this.#branches.began();
    return {
      kind: 'steps',
      conversation: this.#index,
      key: this.#key,
      firstStep: (given, source) => ({ op: 'start', name: given, source }),
      steps: [],
      mapping: this.#mapping,
      ...defined({ title: this.#first.title }),
    };
  }

  #output(steps: readonly Step[], branch = this.#branches.branch()): StepsOutput {
    return { kind: 'steps', conversation: this.#index, firstStep: null, steps, branch };
  }

  *#message(item: ForeignMessage): Iterable<ImporterOutput> {
    const where = this.#begins(item);
    yield* this.#follow(item, where);
    if (item.again !== true) this.summary.message(item.role, item.messages);
    this.#tells(item);
    yield* this.#insert(item.messages, item.at, where);
    this.#branches.item(item.id);
  }

  /** What a sub-agent is told before its first call may be an argument of the call that led to it. */
  #tells({ messages }: ForeignMessage): void {
    if (this.#first.parent === undefined || this.#hasCalls) return;
    for (const text of userTexts(messages))
      if (text.length >= LEAST_TOLD && this.#told.length < MOST_TOLD) this.#told.push(hashOfTold(text));
  }

  *#call(item: ForeignCall): Iterable<ImporterOutput> {
    const where = this.#begins(item);
    const { fidelity = 'reconstructed', at, answer } = item;
    this.summary.call({ ...item, usage: item.stated ?? item.usage, fidelity });
    if (answer !== null) this.summary.message('assistant', [answer]);
    this.#hasCalls = true;
    if (item.isComing === true) return;
    yield* this.#follow(item, where);
    const sent =
      at === undefined ? undefined : { at, origin: null, path: null, contentType: null, coding: null };
    yield this.#output([
      this.#commit(at),
      {
        op: 'start_call',
        api: 'other',
        model: item.model,
        parameters: { ...item.parameters },
        tools: item.tools == null ? null : [...item.tools],
        toolsAt: null,
        request: null,
        own: null,
        fidelity: { kind: fidelity, missing: missingAtStart(item.missing) },
        ...defined({ sent }),
      },
      ...(item.soFar === undefined ? [finishOf(item)] : []),
    ]);
    this.#branches.passed();
    if (answer !== null && item.soFar !== undefined) yield* this.#insertParts(answer, item.soFar, at, where);
    else if (answer !== null) yield* this.#insert([answer], at, where);
    this.#branches.item(item.id);
    if (item.soFar === undefined) return;
    yield { ...this.#output([finishOf(item)]), finishes: true };
    this.#branches.passed();
  }

  /**
   * On a branch a turn is named after its frame in the import: a turn's own name would hold the number of the branch, which is another one where
   * something else was recorded before.
   */
  #commit(at: number | undefined): Step {
    const named = this.#branches.branch() === 0 ? {} : { turn_id: `turn:${this.#branches.next()}` };
    return { op: 'commit', at_ns: this.#time(at), ...named };
  }

  *#compact(item: ForeignCompaction): Iterable<ImporterOutput> {
    const where = this.#begins(item);
    yield* this.#follow(item, where);
    this.summary.add('compactions');
    const gone = this.#branches.compacted(new Set(item.keeps), item.ofSystem === true);
    for (let from = 0; from < gone.length; from += MOST_STEPS) {
      const removed = gone.slice(from, from + MOST_STEPS).map((id): Step => ({ op: 'remove', id }));
      yield this.#output([...removed, { op: 'annotate', note: COMPACTED }]);
      this.#branches.passed();
    }
    if (item.id !== undefined) this.#branches.item(item.id);
  }

  /** Counts the time of an item, and says what it is called in errors. */
  #begins({ id, at }: ForeignMessage | ForeignCall | ForeignCompaction): string {
    const where = id ?? `message ${this.#ordinal}`;
    if (at === undefined) return where;
    if (this.#lastAt !== undefined && at < this.#lastAt) this.summary.warning('W_CLOCK_BACK', where);
    this.#lastAt = at;
    this.summary.at(at);
    return where;
  }

  /** Where an item goes on: another branch begins there if something else follows the same already. */
  *#follow(
    { after }: ForeignMessage | ForeignCall | ForeignCompaction,
    where: string,
  ): Iterable<ImporterOutput> {
    if (after === undefined) return;
    const found = this.#branches.find(after);
    if (found === 'tip') return;
    if (found === 'unknown') {
      this.summary.warning('W_PARENT_MISSING', where);
      return;
    }
    if (this.#branches.switched(found)) return;
    this.summary.add('branches');
    yield this.#output([{ op: 'fork', at: found.position }], found.position.branchId);
    this.#branches.forked(found);
  }

  *#insert(
    messages: readonly WideJsonObject[],
    at: number | undefined,
    where: string,
  ): Iterable<ImporterOutput> {
    const steps = messages.map((message): Step => {
      const chat = chatMessageAt(message, where);
      const inSystem = this.#branches.isAtBeginning() && isSystemRole(chat['role']);
      const nodes = messageToNodes(chat, this.#ordinal).map((node) => ({
        ...node,
        ...(!inSystem && { offset: 1 }),
      }));
      for (const node of nodes) checkNode(node, where);
      this.#branches.inserted(this.#ordinal, nodes.length, inSystem);
      this.#ordinal += 1;
      return this.#inserting(nodes, inSystem ? '^sys' : '^ah', at);
    });
    if (steps.length > 0) yield this.#output(steps);
  }

  /** Inserts an answer as it came: so it stands there in the same way, wherever a file ended that grew since. */
  *#insertParts(
    answer: WideJsonObject,
    soFar: readonly WideJsonObject[],
    at: number | undefined,
    where: string,
  ): Iterable<ImporterOutput> {
    const nodesOf = (message: WideJsonObject): readonly WideJsonObject[] =>
      messageToNodes(chatMessageAt(message, where), this.#ordinal).map((node) => ({ ...node, offset: 1 }));
    const nodes = nodesOf(answer);
    for (const node of nodes) checkNode(node, where);
    let from = 0;
    for (const part of [...soFar.map(nodesOf), nodes]) {
      if (part.length <= from || !beginsWith(nodes, part)) continue;
      if (from === 0) this.#branches.inserted(this.#ordinal, nodes.length, false);
      else this.#branches.passed();
      yield this.#output([this.#inserting(nodes.slice(from, part.length), '^ah', at)]);
      from = part.length;
    }
    this.#ordinal += 1;
  }

  #inserting(
    [node, ...siblings]: readonly WideJsonObject[],
    parent: '^sys' | '^ah',
    at: number | undefined,
  ): Step {
    return {
      op: 'insert',
      parent,
      node: node as WideJsonObject,
      ...(siblings.length > 0 && { siblings }),
      at_ns: this.#time(at),
    };
  }

  #time(at: number | undefined): bigint {
    return BigInt(Math.trunc(at ?? this.#lastAt ?? 0)) * 1_000_000n;
  }
}

type ConversationItem = ForeignMessage | ForeignCall | ForeignCompaction;

/** What a conversation says up to its first answer tells it from others; so many messages at most. */
const MOST_OF_BEGINNING = 64;

const textsOf = (item: ConversationItem): readonly WideJsonObject[] => {
  if (item.kind === 'message') return item.messages;
  return item.kind === 'call' && item.answer !== null ? [item.answer] : [];
};

type StepsOutput = Extract<ImporterOutput, { readonly kind: 'steps' }>;

/** True if the nodes of a part are the first ones of the whole. */
const beginsWith = (nodes: readonly WideJsonObject[], part: readonly WideJsonObject[]): boolean =>
  part.every((node, index) => JSON.stringify(node) === JSON.stringify(nodes[index]));

/** So many texts of a user may tell which call is meant. */
const MOST_TOLD = 8;

/** So many nodes leave in one command. */
const MOST_STEPS = 10_000;

const COMPACTED = 'the program left out what stands before: it compacted the conversation';

/** The own words of the importer: which command started the call is filled in where its id is known. */
const finishOf = (item: ForeignCall): Step => ({
  op: 'finish_call',
  attemptId: STARTING_COMMAND,
  status: item.status ?? 'answered',
  httpStatus: null,
  finishReason: item.finishReason ?? null,
  model: item.model,
  usage: item.usage ?? null,
  firstByteMs: null,
  durationMs: item.durationMs ?? null,
  error: item.error ?? null,
  answer: item.answer,
  response: null,
  own: null,
});

/** Stands for the id of the command that starts the call: the one that the step is in, or one before. */
export const STARTING_COMMAND = '^started';
