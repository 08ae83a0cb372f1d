import { sizeOf, wordIn } from '../loose-values.ts';
import type { ForeignItem } from '../item.ts';
import { openAttributes, type Attributes } from './attributes.ts';
import { callOfSpan } from './call-of-span.ts';
import { kindOf, type SpanKind } from './kinds.ts';
import type { TraceSpan } from './span.ts';

/** Puts calls together from spans, whatever the order in which these come, and however often. */
export type SpanAssembly = {
  /** Takes a span; what it is, or null where it came before. */
  readonly add: (span: TraceSpan) => SpanKind | null;
  /** The size of the spans that wait, in characters. */
  readonly size: () => number;
  /**
   * The calls that wait, each conversation's in the order of their times, behind a `conversation` item.
   *
   * @param which `closed`: only those whose spans above are known up to the root; `all`
   */
  readonly release: (which: 'closed' | 'all') => Iterable<ForeignItem>;
};

/** What is kept of every span: where it is, and what it says of its conversation. */
type Known = {
  readonly parent: string | null;
  readonly isCall: boolean;
  /** The conversation or session that it names; null: none. */
  readonly session: string | null;
};

type Waiting = { readonly span: TraceSpan; readonly size: number; readonly index: number };

/** A call that waits, and its path to the root. */
type Placed = Waiting & { readonly key: string; readonly path: SpanPath };

/** The spans above one. */
type SpanPath = {
  /** The call that is the farthest above it; null: none is. */
  readonly outer: string | null;
  readonly session: string | null;
  /** True if every span up to the root is known. */
  readonly isClosed: boolean;
};

export const openSpanAssembly = (): SpanAssembly => {
  const known = new Map<string, Known>();
  const waiting = new Map<string, Waiting>();
  /** Spans above calls that were released: one that turns out to be a call itself is of the same call. */
  const covered = new Set<string>();
  let size = 0;
  let count = 0;

  const pathOf = (key: string): SpanPath => {
    const seen = new Set([key]);
    let { parent = null, session = null } = known.get(key) ?? {};
    let outer: string | null = null;
    while (parent !== null && !seen.has(parent)) {
      seen.add(parent);
      const above = known.get(parent);
      if (above === undefined) return { outer, session, isClosed: false };
      if (above.isCall) outer = parent;
      session ??= above.session;
      parent = above.parent;
    }
    return { outer, session, isClosed: true };
  };
  const cover = (key: string): void => {
    let parent = known.get(key)?.parent ?? null;
    while (parent !== null && !covered.has(parent)) {
      covered.add(parent);
      parent = known.get(parent)?.parent ?? null;
    }
  };
  const take = (key: string): void => {
    size -= waiting.get(key)?.size ?? 0;
    waiting.delete(key);
  };
  return {
    size: () => size,
    add: (span) => {
      const key = keyOf(span, span.spanId);
      if (known.has(key)) return null;
      const attributes = openAttributes(span.attributes);
      const kind = kindOf(attributes, span);
      known.set(key, {
        parent: span.parentId === null ? null : keyOf(span, span.parentId),
        isCall: kind === 'model',
        session: sessionOf(attributes),
      });
      forget(known, waiting);
      if (kind !== 'model') return kind;
      const weight = sizeOf(span.attributes) + 1_000;
      size += weight;
      waiting.set(key, { span, size: weight, index: count++ });
      return kind;
    },
    *release(which) {
      const placed: Placed[] = [...waiting].map(([key, each]) => ({ ...each, key, path: pathOf(key) }));
      const ready = placed.filter(({ path }) => which === 'all' || path.isClosed);
      const nested = Map.groupBy(
        ready.filter(({ path }) => path.outer !== null),
        ({ path }) => path.outer,
      );
      const isOuter = ({ key, path }: Placed): boolean => path.outer === null && !covered.has(key);
      for (const [run, calls] of runsOf(ready.filter(isOuter))) {
        yield { kind: 'conversation', key: run };
        for (const { key, span } of calls) {
          const inner = nested.get(key) ?? [];
          const { exchange, dropped } = callOfSpan(
            span,
            inner.length === 1 ? (inner[0]?.span ?? null) : null,
          );
          yield exchange;
          for (const what of dropped) yield { kind: 'dropped', what };
          cover(key);
        }
      }
      for (const each of ready) {
        if (!isOuter(each)) yield { kind: 'dropped', what: 'span of a call that another span reports' };
        take(each.key);
      }
    },
  };
};

/** The most spans of which it is known where they are; those that came first are forgotten, but for calls that wait. */
const MOST_KNOWN = 500_000;

const forget = (known: Map<string, Known>, waiting: ReadonlyMap<string, Waiting>): void => {
  if (known.size <= MOST_KNOWN) return;
  for (const key of known.keys()) {
    if (known.size <= MOST_KNOWN / 2) return;
    if (!waiting.has(key)) known.delete(key);
  }
};

const keyOf = ({ traceId }: TraceSpan, spanId: string): string => `${traceId}:${spanId}`;

/** Calls by their conversations: the session that a span or one above it names, else the trace. */
const runsOf = (calls: readonly Placed[]): ReadonlyMap<string, readonly Placed[]> => {
  const at = ({ span }: Placed): number => span.startMs ?? Number.MAX_SAFE_INTEGER;
  const inOrder = calls.toSorted((a, b) => at(a) - at(b) || a.index - b.index);
  return Map.groupBy(inOrder, ({ path, span }) => path.session ?? span.traceId);
};

/** What programs call a conversation, the most exact first. */
const SESSIONS = [
  'gen_ai.conversation.id',
  'session.id',
  'langfuse.session.id',
  'ai.telemetry.metadata.sessionId',
  'traceloop.association.properties.session_id',
  'langsmith.trace.session_id',
] as const;

const sessionOf = (attributes: Attributes): string | null =>
  SESSIONS.map((name) => wordIn(attributes.get(name))).find((session) => session !== null) ?? null;
