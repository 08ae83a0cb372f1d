import { isJsonObject, parseWideJson, type WideJson, type WideJsonObject } from '@stemma/canonical';
import { fail, isName, issueText } from '@stemma/errors';
import { defined } from '@stemma/values';
import { z } from 'zod';
import { formOf, orderOf } from './json-lines.ts';

const MOST_ROUNDS = 1_000_000;
const round = z.int().min(0).max(MOST_ROUNDS);
const name = z.string().min(1).max(128);

const Entry = z.looseObject({
  name: name.optional(),
  parent: name.nullish(),
  parent_iteration: round.nullish(),
  iteration: round.nullish(),
  parent_vector_id: z.int().min(-1).nullish(),
});

/** What the branch is called that no file names. */
export const ROOT = 'main';

const MOST_BRANCHES = 10_000;

/** The most characters of what is kept of a branch: it becomes a part of its configuration. */
const MOST_KEPT = 32 * 1024;

export type SessionBranch = {
  /** In the session. */
  readonly name: string;
  /** In the history. */
  readonly branch: string;
  /** Null: the branch that the session began with. */
  readonly parent: string | null;
  readonly round: number;
  /** The newest message of its parent that it has; null: the session does not say. */
  readonly parentVectorId: number | null;
  /** What to keep of its entry. */
  readonly kept: WideJsonObject;
};

export type SessionBranches = {
  /** What the branch is called that the session began with. */
  readonly root: string;
  /** Parents before those that start from them. */
  readonly branches: readonly SessionBranch[];
  /** What to keep of the document and of the entry of the first branch; null: there is no document. */
  readonly kept: WideJsonObject | null;
  readonly differences: readonly string[];
};

/**
 * The branches in `branches.json`: `{current, branches: {NAME: {parent, parent_iteration, …}}}`, or a list of `{name, parent, …}`.
 *
 * @throws E_INPUT_SHAPE, E_INPUT_TOO_LARGE, and what is wrong with the JSON
 */
export const readBranches = (text: string | null): SessionBranches => {
  if (text === null) return { root: ROOT, branches: [], kept: null, differences: [] };
  const parsed = parseWideJson(text, 'branches.json');
  const { entries, document } = entriesIn(parsed);
  if (entries.length > MOST_BRANCHES)
    throw fail('E_INPUT_TOO_LARGE', `branches.json has more than ${MOST_BRANCHES} branches`);
  const differences: string[] = [];
  const names = new Set<string>();
  const listed = entries.map(({ key, value }, place) => {
    const where = `branches.json, ${key === null ? `branch ${place}` : JSON.stringify(key.slice(0, 128))}`;
    const read = Entry.safeParse(value);
    if (!read.success) throw fail('E_INPUT_SHAPE', issueText(read.error.issues, where).sentence);
    const called = key ?? read.data.name;
    if (called === undefined || !name.safeParse(called).success)
      throw fail('E_INPUT_SHAPE', `${where}: it has no name of 1 to 128 characters`);
    if (names.has(called))
      throw fail('E_INPUT_SHAPE', `branches.json has two branches ${JSON.stringify(called)}`);
    names.add(called);
    if (key !== null && read.data.name !== undefined && read.data.name !== key)
      differences.push(`${where} calls itself ${JSON.stringify(read.data.name)}`);
    const entry = value as WideJsonObject;
    const kept = { key: called, place, entry, order: [...orderOf(entry)] };
    if (JSON.stringify(kept, wideText).length > MOST_KEPT)
      throw fail('E_INPUT_TOO_LARGE', `${where} has more than ${MOST_KEPT} characters`);
    return { called, ...read.data, kept };
  });
  const parentless = listed.filter(({ parent }) => (parent ?? null) === null);
  const [only] = parentless;
  // In a list the branch that everything began with need not stand.
  let root = document !== null && only !== undefined && parentless.length === 1 ? only.called : ROOT;
  while (listed.some(({ called, parent }) => called === root && (parent ?? null) !== null)) root += '-root';
  const first = listed.find(({ called, parent }) => called === root && (parent ?? null) === null);
  const others = listed.filter((one) => one !== first);
  if (document !== null) {
    const { current } = document;
    if (typeof current === 'string' && !names.has(current))
      differences.push(`branches.json names ${JSON.stringify(current)} as current, which there is not`);
  }
  const form = formOf(text, parsed, 'document');
  if (document !== null && form === null)
    differences.push('branches.json is written in no form that is known: an export has its values');
  const rest = document === null ? {} : without(document, 'branches');
  const kept = {
    ...(document === null ? {} : { document: rest, keys: Object.keys(document), form: form ?? 'indent-2' }),
    newline: text.endsWith('\n'),
    ...defined({ entry: first?.kept }),
  };
  if (JSON.stringify(kept, wideText).length > 2 * MOST_KEPT - 8_192)
    throw fail(
      'E_INPUT_TOO_LARGE',
      `branches.json says more than ${MOST_KEPT} characters beside its branches`,
    );
  const own = branchNames(others.map(({ called }) => called));
  return {
    root,
    branches: parentsFirst(others, root).map(
      ({ called, parent, parent_iteration, parent_vector_id, kept: entry }) => ({
        name: called,
        branch: own.get(called) ?? called,
        parent: parent === undefined || parent === null || parent === root ? null : parent,
        round: parent_iteration ?? 0,
        parentVectorId: parent_vector_id ?? null,
        kept: entry,
      }),
    ),
    kept,
    differences,
  };
};

const wideText = (_key: string, value: unknown): unknown =>
  typeof value === 'bigint' ? String(value) : value;

const without = (object: WideJsonObject, field: string): WideJsonObject =>
  Object.fromEntries(Object.entries(object).filter(([key]) => key !== field));

/** The entries of a document by their keys, or of a list. @throws E_INPUT_SHAPE */
const entriesIn = (
  parsed: WideJson,
): {
  readonly entries: readonly { readonly key: string | null; readonly value: WideJson }[];
  readonly document: WideJsonObject | null;
} => {
  const found = isJsonObject(parsed) ? parsed['branches'] : parsed;
  if (Array.isArray(found))
    return {
      entries: (found as readonly WideJson[]).map((value) => ({ key: null, value })),
      document: null,
    };
  if (!isJsonObject(parsed) || !isJsonObject(found))
    throw fail(
      'E_INPUT_SHAPE',
      'branches.json holds no branches: neither {"branches": {NAME: {…}}} nor a list of them',
    );
  return { entries: Object.entries(found).map(([key, value]) => ({ key, value })), document: parsed };
};

/** The name of each branch in the history: its own, if a branch can have it. */
const branchNames = (names: readonly string[]): ReadonlyMap<string, string> => {
  const taken = new Set<string>([ROOT]);
  const own = new Map<string, string>();
  const isFree = (one: string): boolean => isName(one) && !/^\d+$/.test(one) && !taken.has(one);
  for (const [i, one] of names.entries()) {
    const plain = one.normalize('NFC').replace(/[^\p{L}\p{M}\p{N}._-]+/gu, '-');
    const candidates = [one, plain, `branch-${plain}`, `branch-${i + 1}`];
    let made = candidates.find(isFree);
    for (let n = 2; made === undefined; n++) made = [`branch-${i + 1}-${n}`].find(isFree);
    taken.add(made);
    own.set(one, made);
  }
  return own;
};

/** @throws E_INPUT_SHAPE for a parent that there is not, and for branches in a circle */
const parentsFirst = <T extends { readonly called: string; readonly parent?: string | null | undefined }>(
  listed: readonly T[],
  root: string,
): readonly T[] => {
  const names = new Set(listed.map(({ called }) => called));
  const ordered: T[] = [];
  const done = new Set<string>();
  for (let left = listed; left.length > 0;) {
    const ready = left.filter(
      ({ parent }) => parent === null || parent === undefined || !names.has(parent) || done.has(parent),
    );
    const [stuck] = left;
    if (ready.length === 0 && stuck !== undefined)
      throw fail(
        'E_INPUT_SHAPE',
        `branches.json: the branch ${JSON.stringify(stuck.called)} starts from itself`,
      );
    for (const branch of ready) {
      const { parent = null, called } = branch;
      if (parent !== null && parent !== root && !names.has(parent))
        throw fail(
          'E_INPUT_SHAPE',
          `branches.json: ${JSON.stringify(called)} starts from ${JSON.stringify(parent)}, which there is not`,
        );
      ordered.push(branch);
      done.add(called);
    }
    left = left.filter(({ called }) => !done.has(called));
  }
  return ordered;
};
