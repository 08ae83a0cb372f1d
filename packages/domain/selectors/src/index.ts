export { footprintOf, isLocal } from './footprint.ts';
export { parseRef } from './parse-ref.ts';
export { parseSelector } from './parse-selector.ts';
export { printSelector } from './print-selector.ts';
export { CONTENT_MODES, type ContentDiff, type ContentMode } from './range/content-diff.ts';
export { rangeDiff, type RangeSide } from './range/range-diff.ts';
export { rangeOptions, type RangeOptions } from './range/range-options.ts';
export {
  type RangeChange,
  type RangeDiff,
  rangePairs,
  rangeResult,
  type RangeResult,
  type RangeSnapshot,
  rangeSnapshots,
} from './range/range-result.ts';
export { resolveKey } from './resolve-key.ts';
export { inWindow, select, type Window } from './select.ts';
export type {
  Attribute,
  Compound,
  Depths,
  Marker,
  MarkerRange,
  Pseudo,
  Root,
  Selector,
  SelectorGroup,
  SelectorStep,
  SelectorValue,
} from './syntax.ts';
