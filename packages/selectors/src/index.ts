export { footprintOf, isLocal, type Footprint } from './footprint.ts';
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
export { resolveKey } from './resolve-key.ts';
export { inWindow, select, type SelectOptions, type Window } from './select.ts';
export { CONTENT_MODES, type ContentDiff, type ContentMode, type TokenHunk } from './range/content-diff.ts';
export { rangeDiff, type RangeSide } from './range/range-diff.ts';
export { rangeOptions, type RangeOptions } from './range/range-options.ts';
export {
  rangePairs,
  rangeResult,
  rangeSnapshots,
  type RangeChange,
  type RangeDiff,
  type RangeResult,
  type RangeSnapshot,
} from './range/range-result.ts';
