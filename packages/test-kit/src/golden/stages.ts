import {
  collapsePolicy,
  compileStages,
  plain,
  profileNamed,
  readConfig,
  readEventLog,
  readExactJson,
  snapshotOf,
  STAGE_NAMES,
  treeView,
  type Compilation,
  type EventLog,
  type ExactJson,
  type ExactObject,
  type Profile,
} from '@stemma/stages';
import { sha256Hex } from '@stemma/canonical';
import { all, failed, passed, unsupported, word, type Outcome, type Result } from './outcome.ts';

/** True for a file of vectors of the compiler stages: a profile and cases. */
export const isStagesFile = (file: Readonly<Record<string, unknown>>): boolean =>
  typeof file['profile'] === 'string' && Array.isArray(file['cases']);

/** Runs the cases of such a file, read so that no number in it is lost. */
export const runStagesFile = (text: string): readonly Result[] => {
  const file = object(readExactJson(text, 'the file of vectors'));
  const profile = profileNamed(word(file['profile']));
  return list(file['cases']).map((vector, at) => ({
    name: nameOf(object(vector), at),
    outcome: guarded(() => runCase(profile, object(vector))),
  }));
};

const nameOf = (vector: ExactObject, at: number): string =>
  `${at} ${typeof vector['about'] === 'string' ? vector['about'] : `seed ${plain(vector['seed'] ?? null)}`}`;

const guarded = (check: () => Outcome): Outcome => {
  try {
    return check();
  } catch (error) {
    return failed(error instanceof Error ? (error.stack ?? error.message) : String(error));
  }
};

/** Where the engine redacts less than it means to, the rule counts. */
const runCase = (profile: Profile, vector: ExactObject): Outcome => {
  const expected = object(vector['expect_redacted'] ?? vector['expect']);
  const log = readEventLog(
    profile,
    list(vector['raw_lines']).map((line) => word(line)),
  );
  const config = readConfig(profile, {
    ...object(vector['config'] ?? {}),
    collapse: vector['collapse'] ?? null,
    prompt_summary: vector['prompt_summary'] ?? null,
  });
  const compilation: Compilation = {
    profile,
    nodes: log.nodes,
    config,
    payload: log.payload,
  };
  const previews = object(vector['view'] ?? {})['include_previews'] === true;
  return all(
    ...Object.keys(expected).map((key) => check(key, expected[key] ?? null, log, compilation, previews)),
  );
};

const check = (
  key: string,
  wanted: ExactJson,
  log: EventLog,
  compilation: Compilation,
  previews: boolean,
): Outcome => {
  const { profile, nodes, config } = compilation;
  const compiled = compileStages(compilation);
  const { hashes, stages, ...output } = compiled;
  switch (key) {
    case 'skipped_lines':
      return equal(
        key,
        log.skipped.map(({ line }) => line),
        wanted,
      );
    case 'nodes':
      return equal(
        key,
        nodes.map(({ id, digest }) => ({ id, digest })),
        wanted,
      );
    case 'snapshot':
      return equal(key, snapshotOf(profile, nodes), wanted);
    case 'output':
      return equal(key, output, wanted);
    case 'hashes':
      return equal(key, hashes, wanted);
    case 'stages':
      return all(
        ...Object.keys(object(wanted)).map((name) =>
          checkStage(name, object(wanted)[name] ?? null, compilation),
        ),
      );
    case 'policy':
      return equal(key, collapsePolicy(nodes, config.collapse), wanted);
    case 'tree':
      return checkTrees(key, object(wanted), compilation, previews);
    case 'tree_other':
      return checkTrees(key, object(wanted), compilation, !previews);
    default:
      return unsupported(`the expectation ${key}`);
  }
};

const checkStage = (name: string, wanted: ExactJson, compilation: Compilation): Outcome => {
  if (name === 'FROZEN_hash_only') {
    const { config } = compilation;
    const hashed = {
      ...compilation,
      config: { ...config, header: { ...config.header, mode: 'hash_only' as const } },
    };
    return equal(name, compileStages(hashed).stages.HEADER, wanted);
  }
  const stage = STAGE_NAMES.find((each) => each === name);
  return stage === undefined
    ? unsupported(`the stage ${name}`)
    : equal(name, compileStages(compilation).stages[stage], wanted);
};

const checkTrees = (
  key: string,
  wanted: ExactObject,
  compilation: Compilation,
  includePreviews: boolean,
): Outcome =>
  all(
    ...STAGE_NAMES.filter((stage) => Object.hasOwn(wanted, stage)).map((stage): Outcome => {
      const view = treeView(compilation, { stage, includePreviews });
      const got: Record<string, ExactJson> = {
        include_previews: includePreviews,
        selection: view.selection,
        hashes: view.hashes,
        tree_sha256: view.hashes.tree_sha256,
        nodes_sha256: sha256Hex(plain(view.nodes)),
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

const equal = (what: string, got: unknown, wanted: ExactJson): Outcome => {
  const a = plain(got as ExactJson);
  const b = plain(wanted);
  if (a === b) return passed;
  let at = 0;
  while (a[at] === b[at]) at++;
  const from = Math.max(0, at - 120);
  return failed(`${what} at ${at}: got …${a.slice(from, at + 200)}…, expected …${b.slice(from, at + 200)}…`);
};

const object = (value: ExactJson | undefined): ExactObject => {
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    throw new Error('an object is missing');
  return value as ExactObject;
};

const list = (value: ExactJson | undefined): readonly ExactJson[] => {
  if (!Array.isArray(value)) throw new Error('a list is missing');
  return value as readonly ExactJson[];
};
