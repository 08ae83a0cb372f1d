import { fail } from '@stemma/errors';

/** A position without its `@`: `c3`, `s57`, `t-1`; a number alone is a call. */
const SHORT = /^(?:[cs][0-9]+|t-?[0-9]+)$/;
const NUMBER = /^[0-9]+$/;
/** A position on a branch: `main-1@c10`, `main-1@10`. A node that is called so is written `#main-1@c10`. */
const ON_BRANCH = /^([^#@\s]+)@((?:[cs][0-9]+|t-?[0-9]+|name:\S+)|[0-9]+)$/;

/** True for a text that can only be a position. */
export const isPosition = (text: string): boolean =>
  text.startsWith('@') || SHORT.test(text) || NUMBER.test(text) || ON_BRANCH.test(text);

/** Refuses a name that every command would take for a position. @throws E_NAME_INVALID */
export const refusePosition = (name: string | undefined): void => {
  if (name !== undefined && isPosition(name))
    throw fail(
      'E_NAME_INVALID',
      `${JSON.stringify(name)} would be read as a position: give a name that is none`,
    );
};

/** A position as people write it (`@c3`, `c3`, `3`, `main-1@3`) as Stemma writes it; any other text as it is. */
export const positionOf = (text: string): string => {
  if (SHORT.test(text)) return `@${text}`;
  const [, branch, place = ''] = ON_BRANCH.exec(text) ?? [];
  if (branch !== undefined) return `${branch}@${NUMBER.test(place) ? `c${place}` : place}`;
  return NUMBER.test(text) ? `@c${text}` : text;
};

/** An id as people write it, with or without `#`. @throws E_USAGE for none */
export const nodeId = (text: string): string => {
  const id = text.startsWith('#') ? text.slice(1) : text;
  if (id === '') throw fail('E_USAGE', "the node is empty: give its id, such as '#a1'");
  return id;
};

/** What stands behind a history: at most one position and one node, in any order. */
export type PositionAndNode = { readonly ref: string | undefined; readonly node: string | undefined };

/**
 * Tells a position from a node by how it is written: `@c3`, `c3` and `3` are positions, anything else is a node; `#c3` is the
 * node `c3`.
 *
 * @throws E_USAGE for more than one of either
 */
export const splitReferences = (given: readonly string[], command: string): PositionAndNode => {
  const positions = given.filter(isPosition);
  const nodes = given.filter((text) => !isPosition(text));
  const [ref] = positions;
  const [node] = nodes;
  if (positions.length > 1 || nodes.length > 1)
    throw fail('E_USAGE', `${command} takes at most one position (@c3) and one node (#id)`);
  return {
    ref: ref === undefined ? undefined : positionOf(ref),
    node: node === undefined ? undefined : nodeId(node),
  };
};

/** Arguments and options that are positions, by how they are written in a command's syntax. */
const POSITION_SYNTAX = /[<[](?:ref|older|newer)[>\]]$/;

/** The same values, each position among them as Stemma writes it. @param syntaxes one for each value */
export const withPositions = <T>(syntaxes: readonly string[], values: readonly T[]): readonly T[] =>
  values.map((value, i) =>
    typeof value === 'string' && POSITION_SYNTAX.test(syntaxes[i] ?? '')
      ? (positionOf(value) as T & string)
      : value,
  );
