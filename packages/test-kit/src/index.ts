export { NO_CHROMIUM, findChromium } from './find-chromium.ts';
export { referenceHistory, type ChainSnapshot, type ReferenceHistory } from './reference-history.ts';
export { HISTORY, naiveHistory, type NaiveHistory } from './naive-history.ts';
export { anyActs, perform, START, type Act } from './random-steps.ts';
