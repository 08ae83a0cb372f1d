import { canonicalJson, isJsonObject, type WideJson, type WideJsonObject } from '@stemma/canonical';
import { defined } from '@stemma/values';
import { formOf, inOrder, LINE_FORM, orderOf, writtenAs, type KeyOrder } from './json-lines.ts';
import { sessionTimeOf } from './timestamps.ts';

/** The orders in which Logosphere writes the keys of its lines. */
const ROW_ORDER: KeyOrder = [
  'branch',
  'round',
  'mind_id',
  'vector_id',
  'timestamp',
  'sampled_ids',
  'injected',
  'text',
];
const INTERVENTION_ORDER: KeyOrder = [
  'id',
  'timestamp',
  'intervention_type',
  'snapshot_before',
  'snapshot_after',
  'content',
  'notes',
];

/** What a line of `metadata.jsonl` says of a message as it is recorded. */
export type RowFacts = {
  /** Null: lines name no branch. */
  readonly branch: string | null;
  readonly round: number;
  readonly mindId: number;
  readonly vectorId: number;
  readonly at: bigint;
  readonly text: string;
  readonly sampled: readonly number[];
  readonly injected: boolean;
};

const rowOf = ({
  branch,
  round,
  mindId,
  vectorId,
  at,
  text,
  sampled,
  injected,
}: RowFacts): WideJsonObject => ({
  ...defined({ branch: branch ?? undefined }),
  round,
  mind_id: mindId,
  vector_id: vectorId,
  timestamp: sessionTimeOf(at),
  ...(sampled.length === 0 ? {} : { sampled_ids: sampled }),
  ...(injected ? { injected } : {}),
  text,
});

/** The line of a message. `kept`: what {@link keptOfRow} kept of the one that it was imported from. */
export const lineOfRow = (facts: RowFacts, kept: WideJson | undefined): string => {
  const { fields, without, order = ROW_ORDER, form = LINE_FORM } = isJsonObject(kept) ? kept : {};
  const gone = new Set(Array.isArray(without) ? (without as readonly WideJson[]) : []);
  const own = Object.entries(rowOf(facts)).filter(([name]) => !gone.has(name));
  const row = { ...Object.fromEntries(own), ...(isJsonObject(fields) ? fields : {}) };
  return writtenAs(inOrder(row, order), typeof form === 'string' ? form : LINE_FORM);
};

/** What a record of a session keeps of a line beside what it says itself, and whether the line can be written again from it. */
export type KeptLine = { readonly kept: WideJsonObject | null; readonly isExact: boolean };

/** What to keep of a row, so that {@link lineOfRow} gives its line; null: nothing. */
export const keptOfRow = (facts: RowFacts, given: WideJsonObject, line: string): KeptLine => {
  const row = rowOf(facts);
  const differing = Object.entries(given).filter(
    ([name, value]) =>
      !Object.hasOwn(row, name) || canonicalJson(row[name] as WideJson) !== canonicalJson(value),
  );
  const without = Object.keys(row).filter((name) => !Object.hasOwn(given, name));
  const kept = {
    ...(differing.length === 0 ? {} : { fields: Object.fromEntries(differing) }),
    ...(without.length === 0 ? {} : { without }),
  };
  return withForm(kept, given, line, (one) => lineOfRow(facts, one));
};

/** The line of an intervention that came from one, as {@link keptOfIntervention} kept it. */
export const lineOfRecord = (record: WideJsonObject, written: WideJson | undefined): string => {
  const { order = INTERVENTION_ORDER, form = LINE_FORM } = isJsonObject(written) ? written : {};
  return writtenAs(inOrder(record, order), typeof form === 'string' ? form : LINE_FORM);
};

export const keptOfIntervention = (given: WideJsonObject, line: string): KeptLine =>
  withForm({}, given, line, (one) => lineOfRecord(given, one));

const withForm = (
  kept: WideJsonObject,
  given: WideJsonObject,
  line: string,
  write: (kept: WideJsonObject) => string,
): KeptLine => {
  const wanted = line.trim();
  if (write(kept) === wanted) return { kept: Object.keys(kept).length === 0 ? null : kept, isExact: true };
  const form = formOf(line, given, 'line');
  const ordered = { ...kept, order: [...orderOf(given)], ...defined({ form: form ?? undefined }) };
  return { kept: ordered, isExact: write(ordered) === wanted };
};
