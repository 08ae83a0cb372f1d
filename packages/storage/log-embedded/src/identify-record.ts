import { FRAME_BEGINS, openRecord } from '@stemma/log';
import { HEADER_BYTES, MAX_KEY_BYTES } from './entry.ts';
import type { IdentifyRecord } from './read-segments.ts';

/** If only an entry's header is damaged, its record still shows the history. */
export const identifyRecord: IdentifyRecord = (region) => {
  const last = Math.min(region.length, HEADER_BYTES + MAX_KEY_BYTES);
  for (
    let at = region.indexOf(FRAME_BEGINS);
    at !== -1 && at <= last;
    at = region.indexOf(FRAME_BEGINS, at + 1)
  ) {
    const bytes = new Uint8Array(region.buffer, region.byteOffset + at, region.length - at);
    const open = openRecord(bytes);
    if (open) return { key: open.envelope.history, bytes };
  }
  return undefined;
};
