import { canonicalJson, sha256Hex, type WideJson } from '@stemma/canonical';
import { blockJson, type EventRef } from '@stemma/context-tree';
import { payloadIn } from '@stemma/history';
import type { ThreadEntry, ThreadSlice, ThreadStep } from '@stemma/history-store';
import type { Projection } from '@stemma/projector';
import { textOfContent, tokenCounter, type TokenCounter } from '@stemma/read-models';
import { LRUCache } from 'lru-cache';

/** The size of a sent message: the bytes of its JSON in the thread, the tokens of its content. */
export type MeasuredMessage = {
  readonly entry: ThreadEntry;
  readonly bytes: number;
  readonly tokens: number;
  /** Equal for equal bytes. */
  readonly digest: string;
};

type Content = { readonly bytes: number; readonly tokens: number; readonly digest: string };

/** The number of contents whose counts are kept. */
const MAX_CACHED = 200_000;

/** The contents that are read at once, and the steps of whose slices they are. */
const READ_TOGETHER = 256;
const STEPS_TOGETHER = 64;

/** What was counted of contents, by where they stand in the log: a record never changes. */
export type Counts = {
  get(key: string): Content | undefined;
  set(key: string, counted: Content): unknown;
};

export const openCounts = (): Counts => new LRUCache({ maxSize: MAX_CACHED, sizeCalculation: () => 1 });

/** Functions that measure messages of one history. Each content is counted once, for this question and later ones. */
export const openMeasures = async (projection: Projection, history: string, counts: Counts) => {
  const counter = await tokenCounter();
  const known = new WeakMap<ThreadEntry, MeasuredMessage>();

  const contentOf = (entry: ThreadEntry): Promise<WideJson | undefined> =>
    contentOfEntry(projection, history, entry);
  const countContent = (key: string, content: WideJson | undefined): Content => {
    const json = jsonOf(content);
    const counted = {
      bytes: json.length,
      tokens: counter.count(textOfContent(content)),
      digest: sha256Hex(json),
    };
    counts.set(key, counted);
    return counted;
  };
  const count = async (entry: ThreadEntry): Promise<Content> => {
    const key = keyOf(history, entry.payload);
    return counts.get(key) ?? countContent(key, await contentOf(entry));
  };
  /** Counts the contents that nobody has counted yet. Their frames are read in runs: a read for each takes longer than to count it. */
  const countAll = async (entries: Iterable<ThreadEntry>): Promise<void> => {
    const lacking = new Map<string, EventRef>();
    for (const { payload } of entries) {
      const key = keyOf(history, payload);
      if (counts.get(key) === undefined) lacking.set(key, payload);
    }
    if (lacking.size === 0) return;
    const payloads = await projection.payloads.all(history, [...lacking.values()]);
    for (const [i, key] of [...lacking.keys()].entries()) countContent(key, payloads[i]?.['content']);
  };
  /** The same for the slices of a step, and for those of the steps after it every so many steps. */
  const countSteps = async (steps: readonly ThreadStep[], step: number): Promise<void> => {
    if (step % STEPS_TOGETHER !== 0) return;
    const slices = new Set<ThreadSlice>();
    for (const { after } of steps.slice(step, step + STEPS_TOGETHER))
      for (const slice of after) slices.add(slice);
    await countAll([...slices].flat());
  };
  /** The tokens of messages, in their order. */
  const tokensOf = async (entries: readonly ThreadEntry[]): Promise<readonly number[]> => {
    const tokens: number[] = [];
    for (let from = 0; from < entries.length; from += READ_TOGETHER) {
      const together = entries.slice(from, from + READ_TOGETHER);
      await countAll(together);
      for (const entry of together) tokens.push((await count(entry)).tokens);
    }
    return tokens;
  };
  const measure = async (entry: ThreadEntry): Promise<MeasuredMessage> => {
    const before = known.get(entry);
    if (before !== undefined) return before;
    const { bytes, tokens, digest } = await count(entry);
    const envelope = blockJson(entry.headers, '', entry.inSys);
    const measured = { entry, bytes: bytes + envelope.length, tokens, digest: `${digest} ${envelope}` };
    known.set(entry, measured);
    return measured;
  };
  /** The common prefix of two messages: of their bytes, and of the tokens of their contents. */
  const common = async (
    a: MeasuredMessage,
    b: MeasuredMessage,
  ): Promise<{ bytes: number; tokens: number }> => {
    const [x, y] = [await contentOf(a.entry), await contentOf(b.entry)];
    const bytes = commonLength(
      blockJson(a.entry.headers, jsonOf(x), a.entry.inSys),
      blockJson(b.entry.headers, jsonOf(y), b.entry.inSys),
    );
    return { bytes, tokens: commonTokens(counter, textOfContent(x), textOfContent(y), a.tokens) };
  };
  return { tokenizer: counter.name, measure, tokensOf, countSteps, common };
};

export type Measures = Awaited<ReturnType<typeof openMeasures>>;

const contentOfEntry = async (
  projection: Projection,
  history: string,
  { payload }: ThreadEntry,
): Promise<WideJson | undefined> => {
  const events = await projection.payloads.events(history, payload.seq);
  const event = events[payload.index];
  return event === undefined ? undefined : payloadIn(event)['content'];
};

/** The canonical JSON of the content of a sent message. @throws as reading the frame that holds it */
export const readMessageContent = async (
  projection: Projection,
  history: string,
  entry: ThreadEntry,
): Promise<string> => jsonOf(await contentOfEntry(projection, history, entry));

const keyOf = (history: string, { seq, index }: EventRef): string => `${seq}.${index} ${history}`;

const jsonOf = (content: WideJson | undefined): string =>
  content === undefined ? '""' : canonicalJson(content);

const commonLength = (a: string, b: string): number => {
  const most = Math.min(a.length, b.length);
  let length = 0;
  while (length < most && a.charCodeAt(length) === b.charCodeAt(length)) length++;
  return length;
};

const commonTokens = (counter: TokenCounter, a: string, b: string, tokensOfA: number): number => {
  const length = commonLength(a, b);
  if (length === a.length && length === b.length) return tokensOfA;
  return length === 0 ? 0 : counter.count(a.slice(0, length).toWellFormed());
};
