import type { ContentRef } from '@stemma/canonical';
import { decodeBody, decodeEnvelope, finishBody } from '../src/index.ts';

const nothing = (): undefined => undefined;
/** Envelope and body of a frame, with the contents that `fetched` has. */
export const decodeFrame = (
  bytes: Uint8Array,
  fetched: (ref: ContentRef) => Uint8Array | undefined = nothing,
): unknown => {
  const read = decodeEnvelope(bytes);
  if (!read) throw new Error('no envelope');
  return {
    envelope: read.envelope,
    body: finishBody(decodeBody(read.envelope.v, bytes, read.bodyAt), fetched),
  };
};
