import { canonicalJson } from '@stemma/canonical';
import type {
  Attribute,
  Compound,
  Depths,
  Marker,
  MarkerRange,
  Pseudo,
  Selector,
  SelectorGroup,
  SelectorValue,
} from './syntax.ts';

/** The text of a selector, in one spelling: reading it gives the same selector (context-tree §6). */
export const printSelector = ({ at, groups }: Selector): string =>
  [...(at.kind === 'working' ? [] : [printMarker(at)]), groups.map(printGroup).join(', ')].join(' ');

/** `@t-1`, `@c3`, `@s57`, `@name:NAME`, `@*`, `@c3..@c9`; the empty text for the working state. */
const printMarker = (at: Marker | MarkerRange): string => {
  switch (at.kind) {
    case 'working':
      return '';
    case 't':
      return `@t${at.value}`;
    case 'c':
      return `@c${at.cycle}`;
    case 's':
      return `@s${at.seq}`;
    case 'name':
      return `@name:${at.name}`;
    case 'all':
      return '@*';
    case 'range':
      return `@${at.of}${at.from}..@${at.of}${at.to}`;
  }
};

export const printGroup = (group: SelectorGroup): string =>
  group
    .map(
      ({ combinator, compound }) =>
        ({ start: '', descendant: ' ', child: ' > ' })[combinator] + printCompound(compound),
    )
    .join('');

const printCompound = (compound: Compound): string => {
  if (compound.kind === 'any') return '*';
  if (compound.kind === 'scope') return `depth(${printDepths(compound.depths)})`;
  const { root, id, type, attributes, pseudos } = compound;
  // Behind a bare id a pseudo would be read as a part of it.
  const open = id !== null && type === null && attributes.length === 0 && pseudos.length > 0;
  return [
    root ?? '',
    id === null ? '' : open ? `[id=${printValue(id)}]` : `#${id}`,
    type === null ? '' : `.${type.name}${type.sub === null ? '' : `:${type.sub}`}`,
    ...attributes.map(printAttribute),
    ...pseudos.map(printPseudo),
  ].join('');
};

const printAttribute = ({ key, op, value }: Attribute): string =>
  op === null ? `[${key}]` : `[${key}${op}${printValue(value)}]`;

const printValue = (value: SelectorValue): string =>
  typeof value === 'string' ? printText(value) : canonicalJson(value);

const printText = (text: string): string => `'${text.replace(/[\\']/g, (each) => `\\${each}`)}'`;

const printPseudo = (pseudo: Pseudo): string => {
  if (pseudo.name === 'nth') return `:nth(${pseudo.n})`;
  if (pseudo.name === 'contains') return `:contains(${printText(pseudo.text)})`;
  return pseudo.name === 'depth' ? `:depth(${printDepths(pseudo.depths)})` : `:${pseudo.name}`;
};

const printDepths = (depths: Depths): string => {
  if (depths.kind === 'list') return depths.values.join(',');
  return depths.kind === 'span' ? `${depths.from}..${depths.to}` : `${depths.op}${depths.value}`;
};
