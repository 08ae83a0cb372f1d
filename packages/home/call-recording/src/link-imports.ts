import { canonicalJson, isJsonObject, sha256Hex, type WideJson } from '@stemma/canonical';
import { isStemmaError } from '@stemma/errors';
import type { CallAddress, ImportLinkReason } from '@stemma/events';
import type { BranchRef } from '@stemma/history-store';
import { argumentTexts, hashOfTold, LEAST_TOLD } from '@stemma/model-apis';
import type { Projection } from '@stemma/projector';
import { listCallLinks, listCallRows, listHistories, type CallRow } from '@stemma/read-models';
import { refuseCircle, type LinkTarget } from './link-conversation.ts';

type ImportedBranch = Pick<BranchRef, 'history' | 'branchId'>;

/** An imported conversation, and what files say of the call that led to it. */
export type ImportedChild = {
  /** Where it is; null: wherever a history has this source. */
  readonly branch: ImportedBranch | null;
  readonly source: string;
  readonly parent: {
    /** The history of the call; null: whichever has this source. */
    readonly history: string | null;
    readonly source: string;
    /** The id of the tool call that it works for; undefined: its texts tell it. */
    readonly toolCall?: string | undefined;
    /** Hashes of what users say before its first call ({@link hashOfTold}). */
    readonly told: readonly string[];
  };
};

/**
 * Links imported conversations to the calls that led to them. One whose call is not here, or that several calls may have led to, has no
 * link; nor has one that was linked before, or whose caller somebody named.
 *
 * @returns for each, whether it has a link now
 */
export const linkImports = async (
  home: LinkTarget,
  projection: Projection,
  children: readonly ImportedChild[],
): Promise<readonly boolean[]> => {
  await home.catchUp();
  const found = await findSources(projection, children);
  const byParent = new Map<string, Linkable[]>();
  const linked = new Set<ImportedChild>();
  for (const child of children) {
    const parent = child.parent.history ?? found.get(child.parent.source);
    const branch = child.branch ?? firstBranch(found.get(child.source));
    if (parent === undefined || branch === undefined) continue;
    const known = await projection.read((rows) =>
      listCallLinks(rows, branch.history).find(({ branchId }) => branchId === branch.branchId),
    );
    const isBetter = child.parent.toolCall !== undefined && known?.why === 'argument';
    if (known !== undefined && known.why !== 'may continue' && !isBetter) {
      linked.add(child);
      continue;
    }
    const others = byParent.get(parent) ?? [];
    byParent.set(parent, others);
    others.push({ child, branch });
  }
  for (const [parent, waiting] of byParent)
    for (const child of await linkTo(home, projection, parent, waiting)) linked.add(child);
  return children.map((child) => linked.has(child));
};

type Linkable = { readonly child: ImportedChild; readonly branch: ImportedBranch };

const firstBranch = (history: string | undefined): ImportedBranch | undefined =>
  history === undefined ? undefined : { history, branchId: 0 };

/** The histories that were imported from some conversations, by their sources: of several with one, that which began last. */
const findSources = async (
  projection: Projection,
  children: readonly ImportedChild[],
): Promise<ReadonlyMap<string, string>> => {
  const wanted = new Set(
    children.flatMap(({ branch, source, parent }) => [
      ...(branch === null ? [source] : []),
      ...(parent.history === null ? [parent.source] : []),
    ]),
  );
  const found = new Map<string, { readonly history: string; readonly startedAt: bigint }>();
  let after: string | undefined;
  while (wanted.size > 0) {
    const page = await projection.read((rows) =>
      listHistories(rows, { limit: PAGE, ...(after !== undefined && { after }) }),
    );
    for (const { history, source, startedAt } of page) {
      if (source === null || !wanted.has(source.sha256)) continue;
      const before = found.get(source.sha256);
      if (before === undefined || before.startedAt < startedAt)
        found.set(source.sha256, { history, startedAt });
    }
    after = page.at(-1)?.history;
    if (page.length < PAGE) break;
  }
  return new Map([...found].map(([source, { history }]) => [source, history]));
};

const PAGE = 1_000;

/** Links conversations to the calls of one history, which is read once. */
const linkTo = async (
  home: LinkTarget,
  projection: Projection,
  parent: string,
  children: readonly Linkable[],
): Promise<readonly ImportedChild[]> => {
  const calls = openFoundCalls(children);
  for (let from = 0; ;) {
    const page = await projection.read((rows) => listCallRows(rows, parent, { from, limit: PAGE }));
    for (const row of page) calls.add(parent, row, await answerOf(projection, parent, row));
    const last = page.at(-1);
    if (last === undefined || page.length < PAGE) break;
    from = last.location.seq + 1;
  }
  const linked: ImportedChild[] = [];
  for (const { child, branch } of children) {
    const link = calls.linkOf(child);
    if (link !== undefined && (await submitLink(home, projection, branch, link))) linked.push(child);
  }
  return linked;
};

type Link = { readonly parent: CallAddress; readonly why: ImportLinkReason };

/** The calls that are looked for, among those that are read one by one. */
const openFoundCalls = (children: readonly Linkable[]) => {
  const toolCalls = new Set(children.flatMap(({ child }) => child.parent.toolCall ?? []));
  const told = new Set(children.flatMap(({ child }) => child.parent.told));
  const byToolCall = new Map<string, CallAddress>();
  /** Null: several calls have this argument. */
  const byText = new Map<string, CallAddress | null>();
  return {
    add(history: string, { attemptId, branchId, reassignedTo }: CallRow, answer: WideJson): void {
      if (reassignedTo !== null) return;
      const address = { history, branchId, attemptId };
      for (const id of idsOfToolCalls(answer))
        if (toolCalls.has(id) && !byToolCall.has(id)) byToolCall.set(id, address);
      if (told.size === 0) return;
      for (const text of argumentTexts(answer)) {
        if (text.length < LEAST_TOLD) continue;
        const hash = hashOfTold(text);
        if (told.has(hash)) byText.set(hash, byText.has(hash) ? null : address);
      }
    },
    linkOf({ parent: { toolCall, told: texts } }: ImportedChild): Link | undefined {
      const said = toolCall === undefined ? undefined : byToolCall.get(toolCall);
      if (said !== undefined) return { parent: said, why: 'said' };
      const shown = texts.flatMap((hash) => byText.get(hash) ?? []);
      const [parent] = shown;
      const isOne = shown.every(({ attemptId }) => attemptId === parent?.attemptId);
      return parent !== undefined && isOne ? { parent, why: 'argument' } : undefined;
    },
  };
};

const idsOfToolCalls = (answer: WideJson): readonly string[] => {
  const calls = isJsonObject(answer) ? answer['tool_calls'] : undefined;
  return Array.isArray(calls)
    ? (calls as readonly WideJson[]).flatMap((call) =>
        isJsonObject(call) && typeof call['id'] === 'string' ? [call['id']] : [],
      )
    : [];
};

const answerOf = async (projection: Projection, history: string, row: CallRow): Promise<WideJson> => {
  if (row.finished === null) return null;
  const { seq, index } = row.finished.location;
  const event = (await projection.payloads.events(history, seq))[index];
  return event?.type === 'CallFinished' ? ((event.payload['data_answer'] ?? null) as WideJson) : null;
};

/** False: the conversation led to that call itself. */
const submitLink = async (
  home: LinkTarget,
  projection: Projection,
  { history, branchId }: ImportedBranch,
  { parent, why }: Link,
): Promise<boolean> => {
  // Conversations of a file may say of each other that they led to them.
  await home.catchUp();
  try {
    await projection.read((rows) => refuseCircle(rows, { history, branchId }, parent));
  } catch (error) {
    if (isStemmaError(error, 'E_COMMAND_INVALID')) return false;
    throw error;
  }
  const id = `import-link:${sha256Hex(canonicalJson([history, branchId, { ...parent }, why]))}`;
  await home.submit({
    ...{ id, history, branchId, by: { recorder: 'import' } },
    steps: [{ op: 'link_import', parent: { ...parent }, why }],
  });
  return true;
};
