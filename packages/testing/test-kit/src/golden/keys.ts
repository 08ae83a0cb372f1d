import { canonicalJson, sha256Hex, type WideJson } from '@stemma/canonical';
import {
  compareSiblings,
  contentHash,
  diffTrees,
  exportTree,
  isHeaderName,
  providerThread,
  threadBytes,
  type FlatTree,
  type Payload,
} from '@stemma/context-tree';
import type { Step } from '@stemma/history';
import { parseSelector } from '@stemma/selectors';
import {
  all,
  runVector,
  errorIn,
  failed,
  passed,
  same,
  unsupported,
  word,
  type VectorOutcome,
  type VectorResult,
} from './outcome.ts';
import { query, selectAt, treeAt } from './query.ts';
import { runHistory, startScript, type Script } from './run-history.ts';

type Vector = { readonly [name: string]: WideJson };

/** What the runner knows of a file while it runs: its scripted histories, by name. */
export type Run = { readonly scripts: Map<string, Script> };

/** Runs the vectors under one key of a file. */
export type KeyRunner = (vectors: readonly Vector[], run: Run) => readonly VectorResult[];

/** `{"$int": "digits"}` stands for that integer. */
const exactValue = (value: WideJson): WideJson => {
  if (typeof value === 'object' && value !== null && '$int' in value) return BigInt(word(value['$int']));
  return value;
};

const each =
  (check: (vector: Vector, run: Run) => VectorOutcome): KeyRunner =>
  (vectors, run) =>
    vectors.map((vector, at) => ({
      name: word((vector as Vector | null)?.['name'], word(at)),
      outcome: guarded(() => check(vector, run)),
    }));

/** A vector of an unknown shape fails by itself, not the run. */
const guarded = (check: () => VectorOutcome): VectorOutcome => {
  try {
    return check();
  } catch (error) {
    return failed(error instanceof Error ? (error.stack ?? error.message) : String(error));
  }
};

const contentHashOf = (vector: Vector): VectorOutcome => {
  const node = vector['node'] as Vector;
  const payload: Payload = Object.fromEntries<WideJson>(
    Object.entries(node).filter(([name]) => !isHeaderName(name)),
  );
  return runVector(
    'content_hash',
    () => contentHash(node, payload),
    vector['content_hash'] ?? vector['expect'],
  );
};

const siblingOrder = (vector: Vector): VectorOutcome => {
  const siblings = (
    vector['siblings'] as readonly (readonly [string, number, string | number | bigint, number])[]
  ).map(([id, offset, time, index]) => ({ id, offset, created_at_ns: BigInt(time), creation_index: index }));
  return same(
    'order',
    siblings.sort(compareSiblings).map(({ id }) => id),
    vector['order'],
  );
};

const importText = (vector: Vector): string =>
  typeof vector['import'] === 'string' ? vector['import'] : canonicalJson(vector['fixture'] as WideJson);

const threads = (vector: Vector): VectorOutcome => {
  const { history } = startScript({ import: importText(vector) });
  const wanted = vector['thread'] as Vector;
  const bytes = threadBytes(history.tree(0), history.payload);
  return all(
    same('blocks', providerThread(history.tree(0), history.payload), wanted['blocks']),
    same('bytes', bytes, wanted['bytes']),
    same('sha256', sha256Hex(bytes), wanted['sha256']),
  );
};

const imports = (vector: Vector): VectorOutcome => {
  const wanted = vector['expect'] as Vector;
  if (errorIn(wanted) !== undefined)
    return runVector('import', () => startScript({ import: importText(vector) }), wanted);
  const { history } = startScript({ import: importText(vector) });
  const text = exportTree(history.tree(0), history.payload);
  const bytes = threadBytes(history.tree(0), history.payload);
  const got: Vector = {
    export: text,
    export_sha256: sha256Hex(text),
    thread: bytes,
    thread_sha256: sha256Hex(bytes),
  };
  const again = startScript({ import: text }).history;
  return all(
    ...Object.keys(wanted).map((key) =>
      key in got ? same(key, got[key], wanted[key]) : unsupported(`the expectation ${key}`),
    ),
    same('the export of its import', exportTree(again.tree(0), again.payload), text),
  );
};

/** In which snapshots a node made in the head of a cycle is, and with what `ttl`. */
const lifetimes = (vector: Vector): VectorOutcome => {
  const created = Number(vector['created_cycle']);
  const { history } = startScript({
    import: `{"spec_version":"PACT/0.1.0","cycle":${created - 1},"root":{}}`,
  });
  const insert = {
    op: 'insert',
    parent: '^ah',
    node: { id: 'x', nodeType: 'cb', ttl: vector['ttl'] ?? null },
  } as Step;
  history.submit(0, [insert], 1n);
  const present: [number, number | null][] = [];
  for (let cycle = created; cycle < created + 12; cycle++) {
    history.submit(0, [{ op: 'commit' }], 1n);
    const tree = history.tree(0);
    const at = tree.indexOf('x');
    if (at !== undefined) present.push([cycle, tree.ttls[at] ?? null]);
  }
  const wanted = vector['present_in'];
  if (typeof wanted !== 'string') return same('present_in', present, wanted);
  return present.length === 12
    ? passed
    : failed(`present in ${present.length} of 12 snapshots, expected ${wanted}`);
};

const selectors: KeyRunner = (vectors) =>
  vectors.flatMap((vector, at): VectorResult[] => {
    const script = startScript({ import: importText(vector) });
    return (vector['cases'] as readonly (readonly [string, WideJson, object?])[]).map(
      ([text, wanted, options]) => ({
        name: `${at}: ${text.length > 80 ? text.slice(0, 80) + '…' : text}`,
        outcome: guarded(() => selectorCase(script, text, wanted, options)),
      }),
    );
  });

const selectorCase = (
  script: Script,
  text: string,
  wanted: WideJson,
  options: object | undefined,
): VectorOutcome => {
  const lenient =
    typeof wanted === 'object' && wanted !== null && 'answer_or_error' in wanted
      ? wanted['answer_or_error']
      : undefined;
  const begun = performance.now();
  const run = (): unknown => query(script.history, 0, text, options);
  if (lenient === undefined) return runVector('ids', run, wanted);
  const outcome = runVector('ids', run, lenient);
  const seconds = (performance.now() - begun) / 1000;
  if (seconds > 2) return failed(`it took ${seconds.toFixed(1)} s`);
  return outcome.status === 'failed' ? runVector('ids', run, { error: 'E_*' }) : outcome;
};

const histories: KeyRunner = (vectors, run) =>
  vectors.flatMap((vector) => {
    const { results, script } = runHistory(vector);
    if (script !== undefined) run.scripts.set(word(vector['name']), script);
    return results;
  });

const scriptOf = (vector: Vector, run: Run): Script => {
  const script = run.scripts.get(word(vector['history']));
  if (script === undefined) throw new Error(`there is no history ${word(vector['history'])}`);
  return script;
};

const branchIdOf = (script: Script, name: WideJson | undefined): number => {
  const branchId = script.branchIds.get(word(name, 'main'));
  if (branchId === undefined) throw new Error(`there is no branch ${word(name)}`);
  return branchId;
};

const diffs = (vector: Vector, run: Run): VectorOutcome => {
  const script = scriptOf(vector, run);
  const { history } = script;
  const compare = (): unknown => {
    const [a, b] = (['a', 'b'] as const).map((side) => {
      const [branch, ref] = vector[side] as readonly [string, string];
      return { branchId: branchIdOf(script, branch), ref };
    });
    if (a === undefined || b === undefined) throw new Error('a diff has two sides');
    const [older, newer] = [a, b].map(({ branchId, ref }) => treeAt(history, branchId, ref)) as [
      FlatTree,
      FlatTree,
    ];
    const text = vector['selector'];
    if (text === undefined) return diffTrees(older, newer, history.payload);
    const selector = parseSelector(word(text));
    const only = [a, b].flatMap(({ branchId, ref }) => selectAt(history, branchId, ref, selector));
    return diffTrees(older, newer, history.payload, new Set(only));
  };
  return runVector('diff', compare, vector['expect']);
};

const ranges = (vector: Vector, run: Run): VectorOutcome => {
  const script = scriptOf(vector, run);
  const on = branchIdOf(script, vector['on']);
  return runVector(
    'range',
    () => query(script.history, on, word(vector['query']), vector['options'] as object),
    vector['expect'],
  );
};

/** Every key that the runner knows, in the order in which they are run: diffs and ranges ask the histories. */
export const KEYS: { readonly [key: string]: KeyRunner } = {
  canonical_json: each((vector) =>
    runVector(
      'json',
      () => canonicalJson(exactValue(vector['value'] as WideJson)),
      vector['json'] ?? vector['expect'] ?? vector,
    ),
  ),
  content_hash: each(contentHashOf),
  sibling_order: each(siblingOrder),
  threads: each(threads),
  ttl: each(lifetimes),
  imports: each(imports),
  histories,
  diffs: each(diffs),
  selectors,
  ranges: each(ranges),
};
