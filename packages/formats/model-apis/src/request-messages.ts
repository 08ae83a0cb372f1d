import { type WideJson, type WideJsonObject } from '@stemma/canonical';
import type { ItemList } from './api-format.ts';
import type { ModelApi } from './api-names.ts';
import { formatOf } from './apis.ts';
import { recordable, wellFormedJson, type UnreadableBody } from './body.ts';
import { isClosed, itemSpans, memberSpans, textAt, type JsonSpan } from './json-spans.ts';
import { readRequest } from './read-request.ts';
import { samePrefix } from './same-prefix.ts';

/** What is made of each message: it is kept as long as the message stands in the requests that are read. */
export type OfMessage<T> = (message: WideJsonObject) => T;

/** The messages of a request: those before `shared` are those of the request that was read before. */
export type ReadMessages<T> = {
  readonly ok: true;
  readonly messages: readonly T[];
  readonly shared: number;
};

/**
 * Reads the messages of requests that mostly begin as the one before. What is the same to the byte is not parsed again, so all
 * requests of a conversation cost what is said in it, and a comparison of their bytes.
 */
export type RequestMessages<T> = {
  /** @returns as `readRequest` would read them */
  read(bytes: Uint8Array): ReadMessages<T> | UnreadableBody;
};

type State<T> = {
  readonly bytes: Uint8Array;
  readonly list: number;
  readonly spans: readonly JsonSpan[];
  readonly system: { readonly text: string; readonly messages: readonly T[] };
  /** Messages before each item that begins one, and -1 for those that do not; and after the last. */
  readonly before: readonly number[];
  /** Of the items. */
  readonly messages: readonly T[];
};

export const openRequestMessages = <T>(api: ModelApi, of: OfMessage<T>): RequestMessages<T> => {
  let state: State<T> | undefined;
  const whole = (bytes: Uint8Array): ReadMessages<T> | UnreadableBody => {
    state = undefined;
    const read = readRequest(api, bytes);
    return read.ok ? { ok: true, messages: read.messages.map(of), shared: 0 } : read;
  };
  return {
    read(bytes) {
      const list = api === 'other' ? null : formatOf(api).list;
      if (list === null) return whole(bytes);
      const last = state;
      try {
        const next = stateAfter(list, last, bytes, of);
        if (next === undefined) return whole(bytes);
        state = next.state;
        const { system, messages } = next.state;
        const isSame = last !== undefined && last.system.text === system.text;
        return {
          ok: true,
          messages: [...system.messages, ...messages],
          shared: isSame ? system.messages.length + next.shared : 0,
        };
      } catch {
        // Whatever it is, the other reader says it.
        return whole(bytes);
      }
    },
  };
};

const stateAfter = <T>(
  { items: field, system: systemFields, ofSystem, ofItems, begins }: ItemList,
  last: State<T> | undefined,
  bytes: Uint8Array,
  of: OfMessage<T>,
): { readonly state: State<T>; readonly shared: number } | undefined => {
  const same = last === undefined ? 0 : samePrefix(last.bytes, bytes);
  let list: { readonly at: number; readonly spans: readonly JsonSpan[]; readonly known: number } | undefined;
  const members = memberSpans(bytes, (name, at) => {
    if (name !== field) return -1;
    const known =
      last?.list === at
        ? last.spans.filter(([, end]) => end < same || (end === same && isClosed(bytes, end)))
        : [];
    const found = itemSpans(bytes, at, known);
    if (found === undefined) return -1;
    list = { at, spans: found.items, known: known.length };
    return found.end;
  });
  if (members === undefined || list === undefined) return undefined;
  const { at, spans, known } = list;
  const valueOf = (span: JsonSpan): WideJson => wellFormedJson(textAt(bytes, span), 'the request');
  const [systemMember, another] = members.filter(({ name }) => systemFields.includes(name));
  if (another !== undefined) return undefined;
  const systemSpan = systemMember?.value;
  const text = systemSpan === undefined ? '' : textAt(bytes, systemSpan);
  const system =
    last?.system.text === text
      ? last.system
      : {
          text,
          messages: ofSystem(systemSpan === undefined ? undefined : valueOf(systemSpan)).map((message) =>
            of(recordable(message)),
          ),
        };
  const next = spans[known];
  const isBoundary = (index: number): boolean =>
    (last?.before[index] ?? -1) >= 0 && (index < known || next === undefined || begins(valueOf(next)));
  let first = known;
  while (first > 0 && !isBoundary(first)) first--;
  const values = spans.slice(first).map(valueOf);
  const shared = first === 0 ? 0 : (last?.before[first] as number);
  const messages = (last?.messages ?? []).slice(0, shared);
  const before = (last?.before ?? []).slice(0, first);
  let group: WideJson[] = [];
  let behind = first === 0 ? undefined : valueOf(spans[first - 1] as JsonSpan);
  const flush = (): void => {
    for (const message of ofItems(group, behind)) messages.push(of(recordable(message)));
    behind = group.at(-1) ?? behind;
    group = [];
  };
  for (const value of values) {
    const isBeginning = before.length === 0 || begins(value);
    if (isBeginning && group.length > 0) flush();
    before.push(isBeginning ? messages.length : -1);
    group.push(value);
  }
  if (group.length > 0) flush();
  before.push(messages.length);
  return { state: { bytes, list: at, spans, system, before, messages }, shared };
};
