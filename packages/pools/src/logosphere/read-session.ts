import { readNpy, rowOf, type Vectors } from '@stemma/analysis';
import {
  canonicalJson,
  isJsonObject,
  parseWideJson,
  type WideJson,
  type WideJsonObject,
} from '@stemma/canonical';
import { fail, issueText } from '@stemma/errors';
import { z } from 'zod';
import { textHashOf, type TextVector } from '../record-vectors.ts';
import { nanosecondsOf } from './timestamps.ts';

/** A message of a session. */
export type SessionRow = {
  readonly round: number;
  readonly mindId: number;
  readonly vectorId: number;
  /** Nanoseconds since 1970. */
  readonly at: bigint;
  readonly text: string;
  /** Null: the branch that the session began with. */
  readonly branch: string | null;
  /** The vector ids of the messages that its mind was shown. */
  readonly sampled: readonly number[];
  readonly injected: boolean;
};

export type SessionBranch = { readonly name: string; readonly parent: string | null; readonly round: number };

export type SessionIntervention = {
  readonly type: string;
  readonly actor: string | null;
  readonly notes: string;
  readonly content: WideJsonObject;
  readonly branch: string | null;
  readonly at: bigint | null;
};

/** A Logosphere session, as its files have it (pool: Formats). */
export type LogosphereSession = {
  /** By vector id. */
  readonly rows: readonly SessionRow[];
  /** Parents before those that start from them. */
  readonly branches: readonly SessionBranch[];
  readonly interventions: readonly SessionIntervention[];
  /** The vectors of the texts of its messages, each text once; null: the session has none. */
  readonly vectors: readonly TextVector[] | null;
  /** Where the files contradict each other, in sentences. */
  readonly differences: readonly string[];
  /** Fields that are not of the format, and how often each occurs. */
  readonly unknown: Readonly<Record<string, number>>;
};

/** The bytes of the files; null: the folder has none of this name. */
export type SessionFiles = {
  readonly metadata: Uint8Array;
  readonly embeddings: Uint8Array | null;
  readonly interventions: Uint8Array | null;
  readonly branches: Uint8Array | null;
};

const MOST_ROUNDS = 1_000_000;
const whole = (least: number, most: number) => z.int().min(least).max(most);
const name = z.string().min(1).max(128);

const Row = z.looseObject({
  round: whole(0, MOST_ROUNDS),
  mind_id: whole(-1, 1_000_000),
  vector_id: whole(0, 100_000_000),
  timestamp: z.union([z.string().max(64), z.number()]),
  text: z.string(),
  branch: name.nullish(),
  sampled_ids: z.array(whole(0, 100_000_000)).max(10_000).nullish(),
  injected: z.boolean().nullish(),
});
const KNOWN: ReadonlySet<string> = new Set(Object.keys(Row.shape));

const Branches = z
  .array(z.looseObject({ name, parent: name.nullish(), parent_iteration: whole(0, MOST_ROUNDS).nullish() }))
  .max(100_000);

const Intervention = z.looseObject({
  intervention_type: z.string().max(64),
  content: z.custom<WideJsonObject>(isJsonObject).optional(),
  actor: z.string().nullish(),
  notes: z.string().nullish(),
  branch: name.nullish(),
  timestamp: z.union([z.string().max(64), z.number()]).nullish(),
});

/** What the branch is called that no file names. */
const ROOT = 'main';

/** How many differences are told; a number stands for the rest. */
const MOST_DIFFERENCES = 100;

/**
 * Reads the files of a session. What makes no session is refused; where its files only contradict each other, it says so.
 *
 * @throws E_INPUT_SHAPE, E_INPUT_JSON, E_VECTORS, E_INPUT_ENCODING
 */
export const readSession = (files: SessionFiles): LogosphereSession => {
  const differences: string[] = [];
  let more = 0;
  const differ = (what: string): void => {
    if (differences.length < MOST_DIFFERENCES) differences.push(what);
    else more++;
  };
  const unknown: Record<string, number> = {};
  const branches = branchesIn(files.branches);
  const isRoot = (branch: string | null | undefined): boolean =>
    branch === null ||
    branch === undefined ||
    (branch === ROOT && !branches.some((one) => one.name === ROOT));
  const known = new Set(branches.map((branch) => branch.name));
  const rows = linesOf(files.metadata, 'metadata.jsonl').map(({ value, line }): SessionRow => {
    const where = `metadata.jsonl, line ${line}`;
    const read = Row.safeParse(value);
    if (!read.success) throw fail('E_INPUT_SHAPE', issueText(read.error.issues, where).sentence);
    const row = read.data;
    for (const key of Object.keys(row)) if (!KNOWN.has(key)) unknown[key] = (unknown[key] ?? 0) + 1;
    const branch = isRoot(row.branch) ? null : (row.branch as string);
    if (branch !== null && !known.has(branch))
      throw fail('E_INPUT_SHAPE', `${where}: branches.json has no branch ${JSON.stringify(branch)}`);
    return {
      round: row.round,
      mindId: row.mind_id,
      vectorId: row.vector_id,
      at: nanosecondsOf(row.timestamp, where),
      text: row.text,
      branch,
      sampled: row.sampled_ids ?? [],
      injected: row.injected === true || (row.mind_id < 0 && row.round > 0),
    };
  });
  rows.sort((a, b) => a.vectorId - b.vectorId);
  const byId = new Map<number, SessionRow>();
  for (const row of rows) {
    if (byId.has(row.vectorId))
      throw fail('E_INPUT_SHAPE', `metadata.jsonl has two rows of the vector ${row.vectorId}`);
    byId.set(row.vectorId, row);
  }
  for (const { vectorId, sampled } of rows)
    for (const id of sampled)
      if (!byId.has(id)) differ(`message ${vectorId} was shown message ${id}, which metadata.jsonl has not`);
  const vectors = vectorsIn(files.embeddings);
  if (vectors !== null && vectors.rows !== rows.length)
    differ(`embeddings.npy has ${vectors.rows} rows, and metadata.jsonl ${rows.length}`);
  const outside = rows.find(({ vectorId }) => vectors !== null && vectorId >= vectors.rows);
  if (outside !== undefined)
    differ(`embeddings.npy has no row ${outside.vectorId}, which metadata.jsonl names`);
  const textVectors = vectors === null ? null : vectorsOfTexts(vectors, rows, differ);
  const interventions = linesOf(files.interventions, 'interventions.jsonl').map(({ value, line }) => {
    const where = `interventions.jsonl, line ${line}`;
    const read = Intervention.safeParse(value);
    if (!read.success) throw fail('E_INPUT_SHAPE', issueText(read.error.issues, where).sentence);
    const { intervention_type: type, content = {}, actor, notes, branch, timestamp } = read.data;
    if (!isRoot(branch) && !known.has(branch as string))
      differ(`${where}: branches.json has no branch ${JSON.stringify(branch)}`);
    return {
      type,
      actor: actor === undefined || actor === '' ? null : actor,
      notes: notes ?? '',
      content,
      branch: isRoot(branch) ? null : (branch as string),
      at: timestamp === null || timestamp === undefined ? null : nanosecondsOf(timestamp, where),
    };
  });
  const injected = new Set(rows.filter((row) => row.injected).map(({ vectorId }) => vectorId));
  for (const { type, content } of interventions) {
    if (type !== 'message_inject') continue;
    const id = content['vector_id'];
    const row = typeof id === 'number' ? byId.get(id) : undefined;
    if (row === undefined)
      differ(
        `interventions.jsonl injects message ${canonicalJson(id ?? null)}, which metadata.jsonl has not`,
      );
    else if (!row.injected)
      differ(`interventions.jsonl injects message ${row.vectorId}, which metadata.jsonl says a mind said`);
    else if (content['text'] !== row.text)
      differ(`the text of message ${row.vectorId} differs between interventions.jsonl and metadata.jsonl`);
    if (typeof id === 'number') injected.delete(id);
  }
  if (files.interventions !== null)
    for (const id of injected)
      differ(`message ${id} came from outside, and interventions.jsonl does not say by whom`);
  if (more > 0) differences.push(`and ${more} more`);
  return { rows, branches, interventions, vectors: textVectors, differences, unknown };
};

const textOf = (bytes: Uint8Array, file: string): string => {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    throw fail('E_INPUT_ENCODING', `${file} is not UTF-8`);
  }
};

const linesOf = (
  bytes: Uint8Array | null,
  file: string,
): { readonly value: WideJson; readonly line: number }[] =>
  bytes === null
    ? []
    : textOf(bytes, file)
        .split(/\r?\n/)
        .flatMap((text, i) =>
          text.trim() === '' ? [] : [{ value: parseWideJson(text, `${file}, line ${i + 1}`), line: i + 1 }],
        );

/** @throws E_VECTORS for numbers that are none, objects, and files that are not as long as they say */
const vectorsIn = (bytes: Uint8Array | null): Vectors | null => (bytes === null ? null : readNpy(bytes));

/**
 * The vector of each text, in single precision. A row of zeros stands for none; messages that say the same have the vector of the first.
 *
 * @throws E_VECTORS for a number that single precision cannot hold
 */
const vectorsOfTexts = (
  vectors: Vectors,
  rows: readonly SessionRow[],
  differ: (what: string) => void,
): readonly TextVector[] => {
  const found = new Map<string, TextVector & { readonly of: number }>();
  for (const { vectorId, text } of rows) {
    if (vectorId >= vectors.rows) continue;
    const vector = Float32Array.from(rowOf(vectors, vectorId));
    const wrong = vector.findIndex((value) => !Number.isFinite(value));
    if (wrong !== -1)
      throw fail(
        'E_VECTORS',
        `embeddings.npy, row ${vectorId}: number ${wrong + 1} is not finite in single precision`,
      );
    if (vector.every((value) => value === 0)) {
      differ(`embeddings.npy has only zeros for message ${vectorId}, which therefore has no vector`);
      continue;
    }
    const textHash = textHashOf(text);
    const before = found.get(textHash);
    if (before === undefined) found.set(textHash, { textHash, vector, of: vectorId });
    else if (!vector.every((value, i) => value === before.vector[i]))
      differ(
        `messages ${before.of} and ${vectorId} have the same text and other vectors: that of ${before.of} is recorded`,
      );
  }
  return [...found.values()].map(({ textHash, vector }) => ({ textHash, vector }));
};

/** The branches, parents first. */
const branchesIn = (bytes: Uint8Array | null): readonly SessionBranch[] => {
  if (bytes === null) return [];
  const parsed = parseWideJson(textOf(bytes, 'branches.json'), 'branches.json');
  const read = Branches.safeParse(
    Array.isArray(parsed) ? parsed : (parsed as { branches?: unknown }).branches,
  );
  if (!read.success) throw fail('E_INPUT_SHAPE', issueText(read.error.issues, 'branches.json').sentence);
  // A file may list the branch that the session began with; it starts from none.
  const listed = read.data.filter((branch) => branch.name !== ROOT || (branch.parent ?? null) !== null);
  const names = new Set<string>();
  for (const branch of listed) {
    if (names.has(branch.name))
      throw fail('E_INPUT_SHAPE', `branches.json has two branches ${JSON.stringify(branch.name)}`);
    names.add(branch.name);
  }
  const ordered: SessionBranch[] = [];
  const done = new Set<string>();
  for (let left = listed; left.length > 0;) {
    const ready = left.filter(
      ({ parent }) => parent === null || parent === undefined || !names.has(parent) || done.has(parent),
    );
    const [first] = left;
    if (ready.length === 0 && first !== undefined)
      throw fail(
        'E_INPUT_SHAPE',
        `branches.json: the branch ${JSON.stringify(first.name)} starts from itself`,
      );
    for (const branch of ready) {
      const parent = branch.parent ?? null;
      if (parent !== null && parent !== ROOT && !names.has(parent))
        throw fail(
          'E_INPUT_SHAPE',
          `branches.json: ${JSON.stringify(branch.name)} starts from ${JSON.stringify(parent)}, which there is not`,
        );
      ordered.push({
        name: branch.name,
        parent: parent !== null && names.has(parent) ? parent : null,
        round: branch.parent_iteration ?? 0,
      });
      done.add(branch.name);
    }
    left = left.filter((branch) => !done.has(branch.name));
  }
  return ordered;
};
