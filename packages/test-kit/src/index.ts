export { NO_CHROMIUM, findChromium } from './find-chromium.ts';
