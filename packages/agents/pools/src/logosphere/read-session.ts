import { readNpy, rowOf, type Vectors } from '@stemma/analysis';
import {
  canonicalJson,
  isJsonObject,
  parseWideJson,
  type WideJson,
  type WideJsonObject,
} from '@stemma/canonical';
import { fail, isStemmaError, issueText } from '@stemma/errors';
import { checkActor, checkNotes } from '@stemma/history';
import { z } from 'zod';
import { textHashOf, type TextVector } from '../record-vectors.ts';
import { formOf, orderOf } from './json-lines.ts';
import { readBranches, type SessionBranch } from './read-branches.ts';
import { keptOfIntervention } from './session-lines.ts';
import { instantOf } from './timestamps.ts';

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
  /** As the file has it. */
  readonly given: WideJsonObject;
  readonly line: string;
};

/** A position as Logosphere names it: `NAME@n`, or `iter_n` where there are no branches. */
export type SessionPosition = { readonly branch: string | null; readonly round: number };

export type SessionIntervention = {
  readonly type: string;
  readonly actor: string | null;
  readonly notes: string;
  readonly content: WideJsonObject;
  readonly branch: string | null;
  readonly at: bigint | null;
  /** Around it; null: the session does not say. */
  readonly before: SessionPosition | null;
  readonly after: SessionPosition | null;
  /** The number of its line among the others, from 0; what the file has there, and how it is written. */
  readonly place: number;
  readonly given: WideJsonObject;
  readonly written: WideJsonObject;
};

/** A Logosphere session, as its files have it (pool: Formats). */
export type LogosphereSession = {
  /** By vector id. */
  readonly rows: readonly SessionRow[];
  /** What the branch is called that it began with; null: its lines name no branch. */
  readonly root: string | null;
  /** Parents before those that start from them. */
  readonly branches: readonly SessionBranch[];
  /** What to keep of its documents, so that an export writes them again. */
  readonly kept: WideJsonObject;
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
  /** `session.json`, which sessions without branches have. */
  readonly session?: Uint8Array | null;
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

const Intervention = z.looseObject({
  intervention_type: z.string().max(64),
  content: z.custom<WideJsonObject>(isJsonObject).optional(),
  actor: z.string().nullish(),
  notes: z.string().nullish(),
  branch: name.nullish(),
  timestamp: z.union([z.string().max(64), z.number()]).nullish(),
  snapshot_before: z.string().nullish(),
  snapshot_after: z.string().nullish(),
});

/** What stands before an injected text in the pool, and not in its intervention. */
const INJECTED_MARK = '>>> ';
/** The most bytes of a text, and how deep what an intervention says may be. */
const MOST_TEXT = 64 * 1024 * 1024;
const MOST_DEPTH = 200;

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
  const read = readBranches(files.branches === null ? null : textOf(files.branches, 'branches.json'));
  const { branches } = read;
  read.differences.forEach(differ);
  const kept = { ...keptDocument(files.session ?? null, differ), ...(read.kept === null ? {} : read.kept) };
  const isRoot = (branch: string | null | undefined): boolean =>
    branch === null || branch === undefined || branch === read.root;
  const known = new Set(branches.map((branch) => branch.name));
  const rows = linesOf(files.metadata, 'metadata.jsonl').map(({ value, line, text }): SessionRow => {
    const where = `metadata.jsonl, line ${line}`;
    const parsed = Row.safeParse(value);
    if (!parsed.success) throw fail('E_INPUT_SHAPE', issueText(parsed.error.issues, where).sentence);
    const row = parsed.data;
    if (Buffer.byteLength(row.text) > MOST_TEXT)
      throw fail('E_CONTENT_TOO_LARGE', `${where}: its text has more than ${MOST_TEXT} bytes`);
    for (const key of Object.keys(row)) if (!KNOWN.has(key)) unknown[key] = (unknown[key] ?? 0) + 1;
    const branch = isRoot(row.branch) ? null : (row.branch as string);
    if (branch !== null && !known.has(branch))
      throw fail('E_INPUT_SHAPE', `${where}: branches.json has no branch ${JSON.stringify(branch)}`);
    return {
      round: row.round,
      mindId: row.mind_id,
      vectorId: row.vector_id,
      at: instantOf(row.timestamp, where),
      text: row.text,
      branch,
      sampled: row.sampled_ids ?? [],
      injected: row.injected === true || (row.mind_id < 0 && row.round > 0),
      given: value as WideJsonObject,
      line: text,
    };
  });
  if (rows.some(({ vectorId }, i) => i > 0 && vectorId < (rows[i - 1] as SessionRow).vectorId))
    differ('metadata.jsonl is not in the order of its vector ids, in which an export writes it');
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
  const interventions = linesOf(files.interventions, 'interventions.jsonl').map(
    ({ value, line, text }, place) => {
      const where = `interventions.jsonl, line ${line}`;
      const parsed = Intervention.safeParse(value);
      if (!parsed.success) throw fail('E_INPUT_SHAPE', issueText(parsed.error.issues, where).sentence);
      if (isDeeper(value, MOST_DEPTH))
        throw fail('E_INPUT_TOO_DEEP', `${where} is nested more than ${MOST_DEPTH} deep`);
      const { intervention_type: type, content = {}, actor, notes, timestamp } = parsed.data;
      const before = positionOf(parsed.data.snapshot_before);
      const after = positionOf(parsed.data.snapshot_after);
      const named = content['branch'];
      const branch =
        parsed.data.branch ??
        after?.branch ??
        before?.branch ??
        (typeof named === 'string' && (known.has(named) || isRoot(named)) ? named : null);
      const given = value as WideJsonObject;
      const { kept: written, isExact } = keptOfIntervention(given, text);
      if (!isExact) differ(`${where} is written in no form that is known: an export has its values`);
      if (!isRoot(branch) && !known.has(branch as string))
        differ(`${where}: branches.json has no branch ${JSON.stringify(branch)}`);
      return {
        type,
        actor: accepted(checkActor, actor === '' ? null : (actor ?? null), `${where}: its actor`, differ),
        notes: accepted(checkNotes, notes ?? '', `${where}: its notes`, differ) ?? '',
        content,
        branch: isRoot(branch) ? null : branch,
        at: timestamp === null || timestamp === undefined ? null : instantOf(timestamp, where),
        before,
        after,
        given,
        place,
        written: written ?? {},
      };
    },
  );
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
    else if (content['text'] !== row.text && !isMarked(content['text'], row.text))
      differ(`the text of message ${row.vectorId} differs between interventions.jsonl and metadata.jsonl`);
    if (typeof id === 'number') injected.delete(id);
  }
  if (files.interventions !== null)
    for (const id of injected)
      differ(`message ${id} came from outside, and interventions.jsonl does not say by whom`);
  if (more > 0) differences.push(`and ${more} more`);
  const hasNames = files.branches !== null || rows.some(({ given }) => given['branch'] !== undefined);
  const root = hasNames ? read.root : null;
  return { rows, root, branches, kept, interventions, vectors: textVectors, differences, unknown };
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
): { readonly value: WideJson; readonly line: number; readonly text: string }[] =>
  bytes === null
    ? []
    : textOf(bytes, file)
        .split(/\r?\n/)
        .flatMap((text, i) =>
          text.trim() === ''
            ? []
            : [{ value: parseWideJson(text, `${file}, line ${i + 1}`), line: i + 1, text }],
        );

const isMarked = (said: WideJson | undefined, text: string): boolean =>
  typeof said === 'string' && `${INJECTED_MARK}${said}` === text;

/** `NAME@n`, or `iter_n`; null for anything else. */
const positionOf = (given: string | null | undefined): SessionPosition | null => {
  const [, branch, round, alone] = /^(?:([^]{1,128})@(\d{1,7})|iter_(\d{1,7}))$/.exec(given ?? '') ?? [];
  if (round === undefined && alone === undefined) return null;
  return { branch: branch ?? null, round: Number(round ?? alone) };
};

/** The text, if Stemma takes it as it stands; else null, and what is wrong is told. */
const accepted = (
  check: (text: string) => string,
  text: string | null,
  what: string,
  differ: (what: string) => void,
): string | null => {
  if (text === null) return null;
  try {
    return check(text);
  } catch (error) {
    if (!isStemmaError(error)) throw error;
    differ(`${what} cannot be recorded as they are: ${error.message}`);
    return null;
  }
};

const isDeeper = (value: WideJson, depth: number): boolean =>
  typeof value === 'object' &&
  value !== null &&
  (depth === 0 || Object.values(value).some((inner) => isDeeper(inner, depth - 1)));

/** The most characters of `session.json`: it becomes a part of the configuration. */
const MOST_DOCUMENT = 16 * 1024;

/** @throws E_INPUT_TOO_LARGE, and what is wrong with the JSON */
const keptDocument = (bytes: Uint8Array | null, differ: (what: string) => void): WideJsonObject => {
  if (bytes === null) return {};
  const text = textOf(bytes, 'session.json');
  if (text.length > MOST_DOCUMENT)
    throw fail('E_INPUT_TOO_LARGE', `session.json has more than ${MOST_DOCUMENT} characters`);
  const document = parseWideJson(text, 'session.json');
  const form = formOf(text, document, 'document');
  if (form === null) differ('session.json is written in no form that is known: an export has its values');
  const written = { order: [...orderOf(document)], form: form ?? 'indent-2', newline: text.endsWith('\n') };
  return { session: { document, ...written } };
};

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
