import { writeFileSync } from 'node:fs';
import { toHex } from '@stemma/canonical';
import { FRAME_VERSION } from '@stemma/events';
import { encodeFrame } from '../src/index.ts';
import { sampleBody, sampleEnvelope, SAMPLES } from './samples.ts';

/*
 * Writes corpus/v<version>.json anew: one frame for every event of the version that this Stemma writes. To be run by hand,
 * and only while no log of that version is kept by anybody; files of older versions never change.
 */
const frames = SAMPLES.map((event, i) => ({
  event: event.type,
  frame: toHex(encodeFrame(sampleEnvelope(i), sampleBody([event])).bytes),
}));
const path = new URL(`../corpus/v${FRAME_VERSION}.json`, import.meta.url);
writeFileSync(path, JSON.stringify({ version: FRAME_VERSION, frames }, null, 2) + '\n');
