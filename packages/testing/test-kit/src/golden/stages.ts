import { sha256Hex } from '@stemma/canonical';
import {
  collapsePolicy,
  compileStages,
  isExactObject,
  printPlain,
  profileNamed,
  readConfig,
  readEventLog,
  readExactJson,
  snapshotOf,
  STAGE_NAMES,
  treeView,
  type Compilation,
  type CompilerOutput,
  type ExactJson,
  type ExactObject,
  type NodeFacts,
  type Profile,
  type StreamEventLog,
} from '@stemma/stages';
import { defined } from '@stemma/values';
import { all, failed, passed, unsupported, word, type VectorOutcome, type VectorResult } from './outcome.ts';

/** A section of such a file: a key and its cases. */
export type StagesSection = { readonly key: string; readonly cases: readonly ExactObject[] };

/** The sections of a file of vectors of the compiler stages: all its lists of logs; none for any other file. */
export const stagesSections = (
  text: string,
  file: Readonly<Record<string, unknown>>,
): readonly StagesSection[] => {
  const named = typeof file['profile'] === 'string';
  const keys = Object.keys(file).filter(
    (key) => isListOfLogs(file[key]) || (named && key === 'cases' && Array.isArray(file[key])),
  );
  if (keys.length === 0) return [];
  // Read again so that no number is lost.
  const exact = object(readExactJson(text, 'the file of vectors'));
  const profile = exact['profile'] ?? 'breadboard-0.1';
  return keys.map((key) => ({
    key,
    cases: list(exact[key]).map((vector) => ({ profile, ...(isExactObject(vector) ? vector : {}) })),
  }));
};

const isListOfLogs = (value: unknown): boolean =>
  Array.isArray(value) &&
  value.some(
    (each: unknown) => typeof each === 'object' && each !== null && ('raw_lines' in each || 'events' in each),
  );

export const runStagesCases = (cases: readonly ExactObject[]): readonly VectorResult[] =>
  cases.map((vector, at) => ({ name: nameOf(vector, at), outcome: guarded(() => runCase(vector)) }));

const nameOf = (vector: ExactObject, at: number): string => {
  const name = [vector['about'], vector['name']].find((each) => typeof each === 'string');
  return `${at} ${typeof name === 'string' ? name : `seed ${printPlain(vector['seed'] ?? null)}`}`;
};

const guarded = (check: () => VectorOutcome): VectorOutcome => {
  try {
    return check();
  } catch (error) {
    return failed(error instanceof Error ? (error.stack ?? error.message) : String(error));
  }
};

/**
 * `expect` is what the engine gives; `expect_redacted`, what it would give if its patterns found what they are meant to.
 * The profile redacts as meant: that counts. What the engine gives is then tried with the patterns that work in it, so
 * that nothing else is allowed to differ.
 */
const runCase = (vector: ExactObject): VectorOutcome => {
  const profile = profileNamed(word(vector['profile']));
  const asIs: Profile = profile.compat ? { ...profile, secrets: WORKING_SECRETS } : profile;
  const expected = object(vector['expect'], 'expect');
  const redacted = vector['expect_redacted'] ?? null;
  if (redacted !== null)
    return all(
      runWith(profile, vector, { ...expected, ...object(redacted, 'expect_redacted') }),
      runWith(asIs, vector, expected),
    );
  const outcome = runWith(profile, vector, expected);
  return outcome.status === 'failed' && runWith(asIs, vector, expected).status === 'passed'
    ? passed
    : outcome;
};

/** Of the engine's patterns those that find anything (compiler-stages, Previews); PEM is found in any case. */
const WORKING_SECRETS: Profile['secrets'] = [/sk-[A-Za-z0-9]{20}/];

/** A case as one profile sees it; `compiled` is worked out once. */
type Case = {
  readonly log: StreamEventLog;
  readonly compilation: Compilation;
  readonly compiled: CompilerOutput;
  readonly previews: boolean;
};

const runWith = (profile: Profile, vector: ExactObject, expected: ExactObject): VectorOutcome => {
  const log = readEventLog(profile, linesOf(vector));
  const given = vector['config'] ?? null;
  const config = readConfig(profile, {
    ...(isExactObject(given) ? given : {}),
    ...defined({ collapse: vector['collapse'], prompt_summary: vector['prompt_summary'] }),
  });
  const compilation: Compilation = { profile, nodes: log.nodes, config, payload: log.payload };
  const view = vector['view'] ?? null;
  const previews = isExactObject(view) && view['include_previews'] === true;
  const seen: Case = { log, compilation, compiled: compileStages(compilation), previews };
  return all(...Object.keys(expected).map((key) => check(key, expected[key] ?? null, seen)));
};

/** The lines of the log; of a case that has its events only, those printed. */
const linesOf = (vector: ExactObject): readonly string[] => {
  const raw = vector['raw_lines'];
  if (typeof raw === 'string') return raw.split('\n');
  return raw === undefined
    ? list(vector['events'], 'events').map((event) => printPlain(event))
    : list(raw, 'raw_lines').map((line) => word(line));
};

const check = (key: string, wanted: ExactJson, seen: Case): VectorOutcome => {
  const { log, compilation, compiled, previews } = seen;
  const { profile, nodes, config } = compilation;
  const { hashes, stages: _stages, ...output } = compiled;
  switch (key) {
    case 'skipped_lines':
      return equal(
        key,
        log.skipped.map(({ line }) => line),
        wanted,
      );
    case 'nodes':
      return checkNodes(nodes, list(wanted, key));
    case 'snapshot':
      return equal(key, snapshotOf(profile, nodes), wanted);
    case 'output':
      return equal(key, output, wanted);
    case 'hashes':
      return equal(key, hashes, wanted);
    case 'stages':
      return all(
        ...Object.entries(object(wanted, key)).map(([name, stage]) => checkStage(name, stage, seen)),
      );
    case 'policy':
      return equal(key, collapsePolicy(nodes, config.collapse), wanted);
    case 'tree':
      return checkTrees(key, object(wanted, key), compilation, previews);
    case 'tree_other':
      return checkTrees(key, object(wanted, key), compilation, !previews);
    default:
      return unsupported(`the expectation ${key}`);
  }
};

/** Nodes by what the vector tells of them: at least ids and digests. */
const checkNodes = (nodes: readonly NodeFacts[], wanted: readonly ExactJson[]): VectorOutcome => {
  const tells = (key: string): boolean => wanted.some((each) => isExactObject(each) && key in each);
  const got = nodes.map(({ id, digest, kind, turn }) => ({
    id,
    digest,
    ...(tells('kind') ? { kind } : {}),
    ...(tells('turn') ? { turn } : {}),
  }));
  return equal('nodes', got, wanted);
};

const checkStage = (name: string, wanted: ExactJson, { compilation, compiled }: Case): VectorOutcome => {
  if (name === 'FROZEN_hash_only') {
    const { config } = compilation;
    const hashed = {
      ...compilation,
      config: { ...config, header: { ...config.header, mode: 'hash_only' as const } },
    };
    return equal(name, compileStages(hashed).stages.HEADER, wanted);
  }
  const stage = STAGE_NAMES.find((each) => each === name);
  return stage === undefined ? unsupported(`the stage ${name}`) : equal(name, compiled.stages[stage], wanted);
};

const checkTrees = (
  key: string,
  wanted: ExactObject,
  compilation: Compilation,
  includePreviews: boolean,
): VectorOutcome =>
  all(
    ...Object.keys(wanted).map((name): VectorOutcome => {
      const stage = STAGE_NAMES.find((each) => each === name);
      if (stage === undefined) return unsupported(`${key}.${name}`);
      const view = treeView(compilation, { stage, includePreviews });
      const got: Record<string, ExactJson> = {
        include_previews: includePreviews,
        selection: view.selection,
        hashes: view.hashes,
        tree_sha256: view.hashes.tree_sha256,
        nodes_sha256: sha256Hex(printPlain(view.nodes)),
        nodes: view.nodes,
      };
      const tree = object(wanted[stage] ?? null);
      return all(
        ...Object.keys(tree).map((name) =>
          Object.hasOwn(got, name)
            ? equal(`${key}.${stage}.${name}`, got[name] ?? null, tree[name] ?? null)
            : unsupported(`${key}.${stage}.${name}`),
        ),
      );
    }),
  );

const equal = (what: string, got: unknown, wanted: ExactJson): VectorOutcome => {
  const a = printPlain(got as ExactJson);
  const b = printPlain(wanted);
  if (a === b) return passed;
  let at = 0;
  while (a[at] === b[at]) at++;
  const from = Math.max(0, at - 120);
  return failed(`${what} at ${at}: got …${a.slice(from, at + 200)}…, expected …${b.slice(from, at + 200)}…`);
};

const object = (value: ExactJson | undefined, what = 'a case'): ExactObject => {
  if (!isExactObject(value)) throw new Error(`${what} is no object`);
  return value;
};

const list = (value: ExactJson | undefined, what = 'the cases'): readonly ExactJson[] => {
  if (!Array.isArray(value)) throw new Error(`${what} is no list`);
  return value as readonly ExactJson[];
};
