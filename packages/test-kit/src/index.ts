export { NO_CHROMIUM, findChromium } from './find-chromium.ts';
export { referenceHistory, type ChainSnapshot, type ReferenceHistory } from './reference-history.ts';
