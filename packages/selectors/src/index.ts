export { parseRef, type Ref } from './parse-ref.ts';
export { parseSelector } from './parse-selector.ts';
export { printMarker, printSelector } from './print-selector.ts';
export type {
  Attribute,
  Combinator,
  Compound,
  Depths,
  Group,
  Marker,
  MarkerRange,
  Operator,
  Pseudo,
  Root,
  Selector,
  Step,
  TypeName,
  Value,
} from './syntax.ts';
export { select, type SelectOptions, type Window } from './select.ts';
