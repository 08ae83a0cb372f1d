import { canonicalJson, parseJson, type Json, type WideJson } from '@stemma/canonical';
import { isStemmaError } from '@stemma/errors';
import { diffArrays, FILE_HEADERS_ONLY, formatPatch, structuredPatch } from 'diff';
import { createPatch, type Operation } from 'rfc6902';

/** How contents are compared: lines of a text, RFC 6902 on values, or words. */
export type ContentMode = 'unified' | 'jsonpatch' | 'tokens';

export const CONTENT_MODES: readonly ContentMode[] = ['unified', 'jsonpatch', 'tokens'];

/** An operation of RFC 6902: `op`, `path`, and `value` or `from` where it has one. */
export type PatchOperation = { readonly [member: string]: Json };

/** A run of words: in both contents, only in the older one, or only in the newer one. */
export type TokenHunk = { readonly op: 'equal' | 'delete' | 'insert'; readonly text: string };

/**
 * What became of a content, from the older to the newer: `+`, `insert` and the patch's result are the newer one. Bytes
 * are those of its text, or of the canonical JSON of what is no text. `truncated`: the contents are too large or too
 * different to be compared, and the difference is empty.
 */
export type ContentDiff = {
  readonly mode: ContentMode;
  readonly mime: string;
  readonly summary: {
    readonly bytesNewer: number;
    readonly bytesOlder: number;
    readonly identical: boolean;
    readonly truncated: boolean;
  };
  readonly diff?: string;
  readonly patch?: readonly PatchOperation[];
  readonly hunks?: readonly TokenHunk[];
};

export type ContentSide = { readonly label: string; readonly content: WideJson | undefined };

/** Contents above so many bytes in all are not compared: comparing takes memory and time of their own. */
const MOST_BYTES = 4 * 1024 * 1024;
/** So many lines or words may be different, so that time is bounded whatever is compared. */
const MOST_EDITS = 2_000;
/** Lists whose lengths multiply to more are given as replaced: comparing them takes that many steps. */
const MOST_PAIRS = 250_000;

/**
 * The difference of two contents (context-tree §6: range result). `jsonpatch` where one of them is no JSON falls back to
 * `unified`, and says so in `mode`. Bounded in time and the same on every run.
 */
export const diffContents = (
  older: ContentSide,
  newer: ContentSide,
  wanted: ContentMode,
  contextLines: number,
): ContentDiff => {
  const bytesNewer = bytesOf(newer.content);
  const bytesOlder = bytesOf(older.content);
  const identical = canonicalJson(older.content ?? '') === canonicalJson(newer.content ?? '');
  const large = bytesNewer + bytesOlder > MOST_BYTES;
  const values = wanted === 'jsonpatch' && !large ? bothJson(older.content, newer.content) : undefined;
  const mode = wanted === 'jsonpatch' && values === undefined ? 'unified' : wanted;
  const found = large ? undefined : COMPARE[mode](older, newer, { contextLines, values });
  return {
    mode,
    mime: MIME[mode],
    summary: { bytesNewer, bytesOlder, identical, truncated: found === undefined },
    ...(found ?? NOTHING[mode]),
  };
};

type Found = Pick<ContentDiff, 'diff' | 'patch' | 'hunks'>;
type How = { readonly contextLines: number; readonly values: readonly [Json, Json] | undefined };

const MIME: { readonly [mode in ContentMode]: string } = {
  unified: 'text/x-diff',
  jsonpatch: 'application/json-patch+json',
  tokens: 'application/json',
};

const NOTHING: { readonly [mode in ContentMode]: Found } = {
  unified: { diff: '' },
  jsonpatch: { patch: [] },
  tokens: { hunks: [] },
};

/** Undefined: too different. A new mode is a new line. */
const COMPARE: {
  readonly [mode in ContentMode]: (older: ContentSide, newer: ContentSide, how: How) => Found | undefined;
} = {
  unified: (older, newer, { contextLines }) => {
    const patch = structuredPatch(
      older.label,
      newer.label,
      linesOf(older.content),
      linesOf(newer.content),
      undefined,
      undefined,
      { context: contextLines, maxEditLength: MOST_EDITS },
    );
    return patch && { diff: patch.hunks.length === 0 ? '' : formatPatch(patch, FILE_HEADERS_ONLY) };
  },
  jsonpatch: (_older, _newer, { values }) => ({ patch: values === undefined ? [] : patchOf(...values) }),
  tokens: (older, newer) => {
    const changes = diffArrays(wordsOf(older.content), wordsOf(newer.content), {
      maxEditLength: MOST_EDITS,
    });
    return (
      changes && {
        hunks: changes.map(({ added, removed, value }) => ({
          op: added ? 'insert' : removed ? 'delete' : 'equal',
          text: value.join(''),
        })),
      }
    );
  },
};

const textOf = (content: WideJson | undefined): string =>
  content === undefined ? '' : typeof content === 'string' ? content : canonicalJson(content);

const bytesOf = (content: WideJson | undefined): number => Buffer.byteLength(textOf(content));

/** What is no text, with a line for each value, so that lines can be compared. */
const linesOf = (content: WideJson | undefined): string =>
  content === undefined || typeof content === 'string'
    ? (content ?? '')
    : JSON.stringify(sorted(content as Json), null, 2) + '\n';

const WORDS = /\s+|[\p{L}\p{N}_]+|[^\s\p{L}\p{N}_]/gu;

const wordsOf = (content: WideJson | undefined): string[] => textOf(content).match(WORDS) ?? [];

const bothJson = (
  older: WideJson | undefined,
  newer: WideJson | undefined,
): readonly [Json, Json] | undefined => {
  const [a, b] = [jsonOf(older), jsonOf(newer)];
  return a === undefined || b === undefined ? undefined : [a.value, b.value];
};

const jsonOf = (content: WideJson | undefined): { readonly value: Json } | undefined => {
  if (content === undefined) return undefined;
  if (typeof content !== 'string') return { value: sorted(content as Json) };
  try {
    return { value: sorted(parseJson(content)) };
  } catch (error) {
    if (isStemmaError(error)) return undefined;
    throw error;
  }
};

/** The same value with its keys in an order of its own, so that a patch does not depend on how they were written. */
const sorted = (value: Json): Json => parseJson(canonicalJson(value));

const patchOf = (older: Json, newer: Json): readonly PatchOperation[] => {
  const replaceLong = (
    input: unknown,
    output: unknown,
    at: { toString(): string },
  ): Operation[] | undefined =>
    Array.isArray(input) && Array.isArray(output) && input.length * output.length > MOST_PAIRS
      ? canonicalJson(input as Json) === canonicalJson(output as Json)
        ? []
        : [{ op: 'replace', path: at.toString(), value: output }]
      : undefined;
  return createPatch(older, newer, replaceLong).map((operation) => ({ ...operation }));
};
