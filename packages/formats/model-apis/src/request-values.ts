import { isJsonObject, parseWideJson, type WideJson } from '@stemma/canonical';
import type { ModelApi } from './api-names.ts';
import { formatOf } from './apis.ts';
import { isList } from './body.ts';
import { isClosed, itemSpans, memberSpans, textAt, type JsonSpan } from './json-spans.ts';
import { samePrefix } from './same-prefix.ts';

/** Reads requests of which most begin as an earlier one does: what is the same to the byte is not parsed a second time. */
export type RequestValues = {
  /**
   * The value of a request, as `parseWideJson` reads it. A message that an earlier request has to the byte is the same object.
   *
   * @throws TypeError if it is not UTF-8, and what `parseWideJson` does
   */
  readonly read: (api: ModelApi, bytes: Uint8Array) => WideJson;
};

/** A request that was read: where its items stand in its bytes, and what they are. */
type ReadRequest = {
  readonly field: string;
  readonly bytes: Uint8Array;
  /** Where its list begins. */
  readonly list: number;
  readonly spans: readonly JsonSpan[];
  readonly items: readonly WideJson[];
};

/** So many conversations under way are remembered, and so many bytes of their requests. */
const [MOST_KEPT, MOST_BYTES] = [16, 64 * 1024 * 1024];

export const openRequestValues = (): RequestValues => {
  /** The newest first. */
  let kept: readonly ReadRequest[] = [];
  const keep = (request: ReadRequest, before: ReadRequest | undefined): void => {
    let bytes = 0;
    kept = [request, ...kept.filter((each) => each !== before)]
      .slice(0, MOST_KEPT)
      .filter((each) => (bytes += each.bytes.length) <= MOST_BYTES);
  };
  return {
    read: (api, bytes) => {
      const field = api === 'other' ? undefined : formatOf(api).list?.items;
      if (field === undefined) return parsed(bytes);
      const shared = longestShared(kept, field, bytes);
      const found = readAfter(shared, field, bytes);
      if (found === undefined) return parsed(bytes);
      keep(found.request, shared?.isWhole === true ? shared.request : undefined);
      return found.value;
    },
  };
};

const utf8 = new TextDecoder('utf-8', { fatal: true });

const parsed = (bytes: Uint8Array): WideJson => parseWideJson(utf8.decode(bytes), 'the request');

/** An earlier request, and how many of its items another one begins with. `isWhole`: all. */
type Shared = { readonly request: ReadRequest; readonly known: number; readonly isWhole: boolean };

const longestShared = (
  kept: readonly ReadRequest[],
  field: string,
  bytes: Uint8Array,
): Shared | undefined => {
  let best: { readonly request: ReadRequest; readonly same: number } | undefined;
  for (const request of kept) {
    if (request.field !== field) continue;
    const same = samePrefix(request.bytes, bytes);
    if (same > request.list && (best === undefined || same > best.same)) best = { request, same };
  }
  if (best === undefined) return undefined;
  const { request, same } = best;
  let known = request.spans.length;
  while (known > 0 && !endsWithin(request.spans[known - 1] as JsonSpan, same, bytes)) known--;
  return { request, known, isWhole: known === request.spans.length };
};

const endsWithin = ([, end]: JsonSpan, same: number, bytes: Uint8Array): boolean =>
  end < same || (end === same && isClosed(bytes, end));

/** Undefined: it is read as a whole, and then says what is wrong with it. */
const readAfter = (
  shared: Shared | undefined,
  field: string,
  bytes: Uint8Array,
): { readonly value: WideJson; readonly request: ReadRequest } | undefined => {
  let list: { readonly at: number; readonly spans: readonly JsonSpan[] } | undefined;
  let known = 0;
  const members = memberSpans(bytes, (name, at) => {
    if (name !== field) return -1;
    if (shared?.request.list === at) known = shared.known;
    const found = itemSpans(bytes, at, known === 0 ? [] : (shared?.request.spans.slice(0, known) ?? []));
    if (found === undefined) return -1;
    list = { at, spans: found.items };
    return found.end;
  });
  if (members === undefined || list === undefined) return undefined;
  try {
    const { at, spans } = list;
    const listEnd = members.find(({ name }) => name === field)?.value[1] ?? bytes.length;
    const next = spans[known]?.[0] ?? listEnd - 1;
    const text = textAt(bytes, [0, at + 1]) + textAt(bytes, [next, bytes.length]);
    const value = parseWideJson(text, 'the request');
    if (!isJsonObject(value) || !isList(value[field])) return undefined;
    const items = [...(shared?.request.items.slice(0, known) ?? []), ...value[field]];
    const request = { field, bytes, list: at, spans, items };
    return { value: { ...value, [field]: items }, request };
  } catch {
    return undefined;
  }
};
