import { writeFileSync } from 'node:fs';
import { toHex } from '@stemma/canonical';
import { FRAME_VERSION } from '@stemma/events';
import { encodeFrame } from '../src/index.ts';
import { sampleBody, sampleEnvelope, SAMPLES } from './samples.ts';

/*
 * Writes corpus/v<version>.json anew: one frame for every event whose newest shape is of the newest version. To be run by hand,
 * and only while no log of that version is kept by anybody; files of older versions never change.
 */
const frames = SAMPLES.flatMap((event, i) => {
  const envelope = sampleEnvelope(i, [event]);
  if (envelope.v !== FRAME_VERSION) return [];
  return [{ event: event.type, frame: toHex(encodeFrame(envelope, sampleBody([event])).bytes) }];
});
const path = new URL(`../corpus/v${FRAME_VERSION}.json`, import.meta.url);
writeFileSync(path, JSON.stringify({ version: FRAME_VERSION, frames }, null, 2) + '\n');
