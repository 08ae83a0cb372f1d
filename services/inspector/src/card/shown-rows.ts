import {
  callMessages,
  firstWords,
  messagesOf,
  type AnswerOf,
  type Excerpt,
  type QUESTIONS,
  type TreeNodeAnswer,
  type TreePage,
} from '@stemma/api';
import { callWords } from '../parts/words.ts';

/** A message that a call was shown, or the older one was. */
export type ShownRow = {
  readonly id: string;
  readonly role: string | null;
  readonly kind: string | null;
  readonly text: string;
  readonly failed: boolean;
  /** Of one that left: what removed it, where that is known. */
  readonly cause: string | null;
};

/** What a call was shown since an older one, in the order in which the card shows it. */
export type ShownGroups = {
  readonly left: readonly ShownRow[];
  readonly changed: readonly ShownRow[];
  readonly fresh: readonly ShownRow[];
  readonly asBefore: readonly ShownRow[];
  /** Nodes of the tree that are not loaded. */
  readonly notLoaded: number;
};

const textOf = (content: Excerpt | null): string =>
  content === null
    ? 'no content'
    : firstWords((content.form === 'json' ? callWords(content.text) : undefined) ?? content.text, 240);

const rowOf = (node: TreeNodeAnswer): ShownRow => ({
  id: node.id,
  role: node.thread?.role ?? node.role ?? null,
  kind: node.thread?.kind ?? node.kind ?? null,
  text: textOf(node.content),
  failed: node.failed === true,
  cause: null,
});

/** Against the call before. */
export const groupsOf = (page: TreePage): ShownGroups => {
  const { left, changed, fresh, asBefore } = callMessages(page);
  return {
    left: left.map(({ id, role, kind, content, cause }) => ({
      ...{ id, role, kind, cause },
      text: textOf(content),
      failed: false,
    })),
    changed: changed.map(rowOf),
    fresh: fresh.map(rowOf),
    asBefore: asBefore.map(rowOf),
    notLoaded: page.total - page.nodes.length,
  };
};

/** A position's diff with the causes of each entry. */
export type ExplainedEntries = Extract<
  AnswerOf<typeof QUESTIONS.diff>,
  { readonly entries: unknown }
>['entries'];

const CAUSES: Readonly<Record<string, string>> = {
  pruning: 'pruned',
  expiry: 'expired',
  cascade: 'cascaded',
};

/** What removed each node, by its newest cause. */
export const causesOf = (entries: ExplainedEntries): ReadonlyMap<string, string> =>
  new Map(
    entries.flatMap(({ id, change, causes }) => {
      const kind = causes.at(-1)?.cause.kind;
      return change !== 'removed' || kind === undefined ? [] : [[id, CAUSES[kind] ?? 'removed'] as const];
    }),
  );

/** Against any older call: by the ids of messages, and their contents. @param causes what removed those that left, as far as it is known */
export const groupsSince = (
  older: TreePage,
  page: TreePage,
  causes: ReadonlyMap<string, string> = new Map(),
): ShownGroups => {
  const before = new Map(messagesOf(older).map((node) => [node.id, node]));
  const messages = messagesOf(page);
  const now = new Set(messages.map(({ id }) => id));
  const isChanged = (node: TreeNodeAnswer): boolean =>
    before.get(node.id)?.content?.text !== node.content?.text;
  const kept = messages.filter(({ id }) => before.has(id));
  return {
    left: [...before.values()]
      .filter(({ id }) => !now.has(id))
      .map((node) => ({ ...rowOf(node), cause: causes.get(node.id) ?? null })),
    changed: kept.filter(isChanged).map(rowOf),
    fresh: messages.filter(({ id }) => !before.has(id)).map(rowOf),
    asBefore: kept.filter((node) => !isChanged(node)).map(rowOf),
    notLoaded: page.total - page.nodes.length + older.total - older.nodes.length,
  };
};
