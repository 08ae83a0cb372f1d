import { isJsonObject, type WideJson, type WideJsonObject } from '@stemma/canonical';
import { fail } from '@stemma/errors';
import { disjointSpans } from './text-rules.ts';
import { redactValue, type Walk } from './redact-value.ts';
import type { SecretLocation } from './tally.ts';

/** Attributes that name or location a node: nothing is taken out of a name, the command is refused. */
const NAMES = new Set(['id', 'nodeType', 'role', 'kind', 'key', 'refs']);

/**
 * Refuses a name that holds a secret: another text in its location would name something else.
 *
 * @throws E_REDACTION_REFUSED, which does not say the name
 */
export const refuseName = ({ rules }: Walk, name: unknown, what: string): void => {
  const texts = Array.isArray(name) ? (name as unknown[]) : [name];
  for (const text of texts) {
    if (typeof text !== 'string') continue;
    const [found] = disjointSpans(text, rules.texts);
    if (found !== undefined)
      throw fail('E_REDACTION_REFUSED', `${what} holds what looks like a secret (${found.rule})`, {
        rule: found.rule,
      });
  }
};

/** The attributes of a node, without its children, with secrets replaced. @throws E_REDACTION_REFUSED */
export const redactAttributes = (
  walk: Walk,
  node: WideJsonObject,
  location: Omit<SecretLocation, 'field'>,
): WideJsonObject => {
  const entries = Object.entries(node).map(([name, value]): readonly [string, WideJson] => {
    refuseName(walk, name, 'the name of an attribute');
    if (name === 'children') return [name, value];
    if (NAMES.has(name)) {
      refuseName(walk, value, `the ${name} of a node`);
      return [name, value];
    }
    return [name, redactValue(walk, value, { ...location, field: name }, [name])];
  });
  return entries.some(([name, value]) => value !== node[name]) ? Object.fromEntries(entries) : node;
};

/**
 * A node and all below it, containers before their children. `locationOf` gives each its location: those that are to be
 * inserted are counted, those of an export have ids.
 */
export const redactSubtree = (
  walk: Walk,
  node: WideJsonObject,
  locationOf: (node: WideJsonObject) => Omit<SecretLocation, 'field'>,
): WideJsonObject => {
  const done = redactAttributes(walk, node, locationOf(node));
  const { children } = node;
  if (!Array.isArray(children)) return done;
  const redacted = (children as readonly WideJson[]).map((child) =>
    isJsonObject(child) ? redactSubtree(walk, child, locationOf) : child,
  );
  return redacted.some((child, i) => child !== (children[i] as WideJson))
    ? { ...done, children: redacted }
    : done;
};
