import type { WideJson } from '@stemma/canonical';
import { KEYS, type Run } from './keys.ts';
import { unsupported, type VectorResult } from './outcome.ts';
import { runStagesCases, stagesSections } from './stages.ts';

/** What came of the vectors under one key. */
export type KeyReport = {
  readonly key: string;
  readonly passed: number;
  readonly failed: number;
  readonly unsupported: number;
  readonly failures: readonly { readonly name: string; readonly detail: string }[];
};

/** JSON as it is, integers beyond ±(2^53−1) as bigints. Vectors hold faulty values on purpose, so nothing is refused. */
const parseVectors = (text: string): WideJson =>
  JSON.parse(text, ((_key: string, value: unknown, context?: { readonly source?: string }) =>
    typeof value === 'number' && !Number.isSafeInteger(value) && /^-?\d+$/.test(context?.source ?? '')
      ? BigInt(context?.source ?? '0')
      : value) as (key: string, value: unknown) => unknown) as WideJson;

/** Keys that describe a file and hold no vectors. */
const WORDS = new Set(['about', 'format']);

/** Runs a file of vectors, key by key. Unknown keys are reported as not yet supported. */
export const runFile = (text: string): readonly KeyReport[] => {
  const file = parseVectors(text);
  if (typeof file !== 'object' || file === null || Array.isArray(file))
    throw new Error('a file of vectors is one JSON object');
  const sections = stagesSections(text, file as Record<string, WideJson>);
  if (sections.length > 0) return sections.map(({ key, cases }) => report(key, runStagesCases(cases)));
  const run: Run = { scripts: new Map() };
  const known = Object.keys(KEYS).filter((key) => key in file);
  const unknown = Object.keys(file).filter((key) => !(key in KEYS) && !WORDS.has(key));
  return [...known, ...unknown].map((key) =>
    report(key, resultsOf(key, (file as Record<string, WideJson>)[key] as WideJson, run)),
  );
};

const resultsOf = (key: string, vectors: WideJson, run: Run): readonly VectorResult[] => {
  const runner = KEYS[key];
  const list = Array.isArray(vectors) ? (vectors as WideJson[]) : [vectors];
  if (runner === undefined)
    return list.map((_, at) => ({ name: String(at), outcome: unsupported(`the key ${key}`) }));
  return runner(list as never, run);
};

const report = (key: string, results: readonly VectorResult[]): KeyReport => {
  const count = (status: VectorResult['outcome']['status']): number =>
    results.filter(({ outcome }) => outcome.status === status).length;
  const failures = results.flatMap(({ name, outcome }) =>
    outcome.status === 'failed' ? [{ name, detail: outcome.detail }] : [],
  );
  return {
    key,
    passed: count('passed'),
    failed: count('failed'),
    unsupported: count('unsupported'),
    failures,
  };
};
