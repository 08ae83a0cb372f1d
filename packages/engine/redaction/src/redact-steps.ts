import {
  canonicalJson,
  isJsonObject,
  parseWideJson,
  type WideJson,
  type WideJsonObject,
} from '@stemma/canonical';
import type { Command, Step, StepOf } from '@stemma/history';
import { redactAttributes, redactSubtree, refuseName } from './redact-node.ts';
import { redactText, redactValue, type Walk } from './redact-value.ts';

/** A command with its secrets replaced; the same command if it has none. @throws E_REDACTION_REFUSED */
export const redactCommand = (walk: Walk, command: Command): Command => {
  const { id, by, notes, steps } = command;
  refuseName(walk, id, 'the id of the command');
  refuseName(walk, Object.values(by), 'the name of the author');
  const done = steps.map((step, i) => redactStep(walk, step, i));
  const said =
    notes === undefined ? notes : redactText(walk, notes, { step: null, node: null, field: 'notes' });
  return said !== notes || done.some((step, i) => step !== steps[i])
    ? { ...command, ...(said === undefined ? {} : { notes: said }), steps: done }
    : command;
};

/** The fields of a step that are names, by operation. An operation without a line here does not compile. */
const NAMES: { readonly [op in Step['op']]: readonly string[] } = {
  start: ['name'],
  import: ['name'],
  insert: ['parent'],
  replace: ['id'],
  move: ['id', 'parent'],
  remove: ['id'],
  commit: ['turn_id'],
  name: ['name'],
  save: ['name'],
  fork: ['name'],
  rollback: ['abandoned'],
  inject: ['id', 'parent', 'role', 'kind'],
  record_vectors: ['embedder'],
  take_run: ['runner'],
  policy: [],
  priorities: [],
  annotate: [],
  config: [],
  query: [],
  run: [],
  retell: [],
  observe: [],
  start_call: [],
  finish_call: [],
  reassign_call: [],
  link: [],
  hold_call: [],
  release_call: [],
  request_run: [],
  end_run: [],
  erase: [],
};

/** The operations that have a case of their own in {@link redactStep}. */
type Own = 'start' | 'import' | 'insert' | 'replace' | 'config' | 'inject' | 'observe' | 'priorities';

/**
 * Of the others the fields that are texts or values of anybody's, each with the name under which it is recorded. An operation
 * without a line here does not compile.
 */
const VALUES: { readonly [op in Exclude<Step['op'], Own>]: { readonly [field: string]: string } } = {
  policy: { policy: 'policy' },
  annotate: { note: 'note' },
  save: { description: 'description' },
  fork: { description: 'description' },
  rollback: { description: 'description' },
  query: { question: 'question', answer: 'answer', mind: 'mind', retold: 'retold' },
  run: { retold: 'retold' },
  retell: { retold: 'retold' },
  // Their bodies are redacted before they are encoded.
  start_call: { model: 'model', parameters: 'data_parameters', tools: 'data_tools', sent: 'sent' },
  finish_call: {
    ...{ model: 'model', answer: 'data_answer', others: 'data_choices' },
    ...{ finishReason: 'finishReason', error: 'error', head: 'head' },
  },
  release_call: { message: 'message' },
  end_run: { why: 'why' },
  move: {},
  remove: {},
  commit: {},
  name: {},
  reassign_call: {},
  link: {},
  hold_call: { model: 'model' },
  request_run: {},
  take_run: {},
  record_vectors: {},
  erase: {},
};

const redactStep = (walk: Walk, step: Step, index: number): Step => {
  const fields = step as unknown as WideJsonObject;
  for (const name of NAMES[step.op]) refuseName(walk, fields[name], `the ${name} of ${step.op}`);
  switch (step.op) {
    case 'start':
      refuseName(walk, Object.values(step.ids ?? {}), 'the id of a region');
      return step;
    case 'import':
      return redactExport(walk, step, index);
    case 'insert':
      return redactInsert(walk, step, index);
    case 'replace': {
      const set = redactAttributes(walk, step.set, { step: index, node: step.id });
      return set === step.set ? step : { ...step, set };
    }
    case 'config': {
      refuseName(walk, Object.keys(step.set), 'a key of the configuration');
      const same = Object.fromEntries(Object.keys(step.set).map((key) => [key, key]));
      const set = withValues(walk, step.set, same, { step: index, node: null });
      return set === step.set ? step : { ...step, set };
    }
    case 'inject':
      return withValues(
        walk,
        step,
        { text: 'content', source: 'data_source', retold: 'retold' },
        { step: index, node: 0 },
      );
    case 'observe':
      return redactObservations(walk, step, index);
    case 'priorities':
      for (const { id } of step.priorities) refuseName(walk, id, 'the id of a node');
      return step;
    default:
      return withValues(walk, step, VALUES[step.op], { step: index, node: null });
  }
};

/** @param fields of the step, each with the name under which it is recorded */
const withValues = <S extends object>(
  walk: Walk,
  step: S,
  fields: { readonly [name: string]: string },
  location: { readonly step: number; readonly node: number | null },
): S => {
  const changes: Record<string, WideJson> = {};
  for (const [name, field] of Object.entries(fields)) {
    const value = (step as unknown as { readonly [name: string]: WideJson | undefined })[name];
    if (value === undefined) continue;
    const next = redactValue(walk, value, { ...location, field }, [field]);
    if (next !== value) changes[name] = next;
  }
  return Object.keys(changes).length === 0 ? step : { ...step, ...changes };
};

const redactInsert = (walk: Walk, step: StepOf<'insert'>, index: number): Step => {
  let node = 0;
  const locationOf = () => ({ step: index, node: node++ });
  const first = redactSubtree(walk, step.node, locationOf);
  const siblings = step.siblings?.map((sibling) => redactSubtree(walk, sibling, locationOf));
  const same = first === step.node && siblings?.every((each, i) => each === step.siblings?.[i]) !== false;
  return same ? step : { ...step, node: first, ...(siblings === undefined ? {} : { siblings }) };
};

const redactExport = (walk: Walk, step: StepOf<'import'>, index: number): Step => {
  const location = { step: index, node: null, field: 'export' };
  let value: WideJson;
  try {
    value = parseWideJson(step.export);
  } catch {
    // The decision refuses it, and may say what it read.
    return { ...step, export: redactText(walk, step.export, location) };
  }
  if (!isJsonObject(value) || !isJsonObject(value['root'])) return step;
  const { root } = value;
  const done = redactSubtree(walk, root, ({ id }) => ({
    step: index,
    node: typeof id === 'string' ? id : null,
  }));
  return done === root ? step : { ...step, export: canonicalJson({ ...value, root: done }) };
};

const redactObservations = (walk: Walk, step: StepOf<'observe'>, index: number): Step => {
  const location = { step: index, node: null, field: 'what' };
  const observations = step.observations.map((one) => {
    const what = redactText(walk, one.what, location);
    return what === one.what ? one : { ...one, what };
  });
  return observations.some((one, i) => one !== step.observations[i]) ? { ...step, observations } : step;
};
