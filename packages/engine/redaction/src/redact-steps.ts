import {
  canonicalJson,
  isJsonObject,
  parseWideJson,
  type WideJson,
  type WideJsonObject,
} from '@stemma/canonical';
import { specOf, type Command, type Secret, type Step } from '@stemma/history';
import { defined } from '@stemma/values';
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
    ? { ...command, ...defined({ notes: said }), steps: done }
    : command;
};

type Fields = { readonly [name: string]: WideJson | undefined };

/** A step with its secrets replaced, as its file answers for each field. @throws E_REDACTION_REFUSED for a secret in a name */
const redactStep = (walk: Walk, step: Step, index: number): Step => {
  const fields = step as unknown as Fields;
  const secrets = Object.entries(specOf(step).secrets);
  for (const [name, secret] of secrets) {
    const value = fields[name] ?? null;
    if (value === null) continue;
    if (secret === 'name') refuseName(walk, value, `the ${name} of ${step.op}`);
    else if (secret === 'settings') refuseName(walk, Object.keys(value), 'a key of the configuration');
    else if (typeof secret === 'object' && 'names' in secret)
      refuseName(walk, secret.of(value), secret.names);
  }
  const changes: Record<string, WideJson> = {};
  const redact = openStep(walk, fields, index);
  for (const [name, secret] of secrets) {
    const value = fields[name];
    if (value === undefined) continue;
    const next = redact(value, secret);
    if (next !== value) changes[name] = next;
  }
  return Object.keys(changes).length === 0 ? step : { ...step, ...changes };
};

/** Redacts the fields of a step, one after another: the nodes that it inserts are counted through all of them. */
const openStep = (
  walk: Walk,
  fields: Fields,
  step: number,
): ((value: WideJson, secret: Secret<unknown>) => WideJson) => {
  let nodes = 0;
  const subtree = (value: WideJson): WideJson =>
    redactSubtree(walk, value as WideJsonObject, () => ({ step, node: nodes++ }));
  return (value, secret) => {
    switch (secret) {
      case 'none':
      case 'name':
        return value;
      case 'subtree':
        return Array.isArray(value) ? sameIfEqual(value, value.map(subtree)) : subtree(value);
      case 'attributes':
        return redactAttributes(walk, value as WideJsonObject, { step, node: fields['id'] as string });
      case 'settings':
        return redactSettings(walk, value as WideJsonObject, step);
      case 'export':
        return redactExport(walk, value as string, step);
    }
    if ('names' in secret) return value;
    if ('within' in secret) return redactWithin(walk, value, secret, step);
    if ('each' in secret) return redactEach(walk, value as readonly WideJsonObject[], secret, step);
    const { as: field, node = null } = secret;
    return redactValue(walk, value, { step, node, field }, [field]);
  };
};

/** The list of before if nothing in it is another. */
const sameIfEqual = (before: readonly WideJson[], after: readonly WideJson[]): readonly WideJson[] =>
  after.some((each, i) => each !== before[i]) ? after : before;

const redactSettings = (walk: Walk, set: WideJsonObject, step: number): WideJsonObject => {
  const entries = Object.entries(set).map(
    ([key, value]) => [key, redactValue(walk, value, { step, node: null, field: key }, [key])] as const,
  );
  return entries.some(([key, value]) => value !== set[key]) ? Object.fromEntries(entries) : set;
};

const redactEach = (
  walk: Walk,
  list: readonly WideJsonObject[],
  { each, as: field }: { readonly each: string; readonly as: string },
  step: number,
): readonly WideJson[] =>
  sameIfEqual(
    list,
    list.map((one) => {
      const text = redactText(walk, one[each] as string, { step, node: null, field });
      return text === one[each] ? one : { ...one, [each]: text };
    }),
  );

const redactWithin = (
  walk: Walk,
  value: WideJson,
  { within, as: field }: Extract<Secret<unknown>, { within: unknown }>,
  step: number,
): WideJson => {
  const changed = new Set<string>();
  const done = within(value, (text) => {
    const redacted = redactText(walk, text, { step, node: null, field });
    if (redacted !== text) changed.add(field);
    return redacted;
  });
  return changed.size === 0 ? value : (done as WideJson);
};

/** The text of an export. */
const redactExport = (walk: Walk, text: string, step: number): string => {
  let value: WideJson;
  try {
    value = parseWideJson(text);
  } catch {
    // The decision refuses it, and may say what it read.
    return redactText(walk, text, { step, node: null, field: 'export' });
  }
  if (!isJsonObject(value) || !isJsonObject(value['root'])) return text;
  const { root } = value;
  const done = redactSubtree(walk, root, ({ id }) => ({ step, node: typeof id === 'string' ? id : null }));
  return done === root ? text : canonicalJson({ ...value, root: done });
};
