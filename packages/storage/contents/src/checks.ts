import { sha256Hex, type ContentRef } from '@stemma/canonical';
import { fail } from '@stemma/errors';
import { MAX_CONTENT_BYTES } from './port.ts';

export const refuseTooLarge = (size: number): void => {
  if (size > MAX_CONTENT_BYTES)
    throw fail('E_CONTENT_TOO_LARGE', `a content has ${size} bytes, more than ${MAX_CONTENT_BYTES}`, {
      bytes: size,
    });
};

export const missingContent = ({ sha256 }: ContentRef): Error =>
  fail('E_CONTENT_MISSING', `the content ${sha256} is missing`, { sha256 });

/** The bytes, if their hash is the reference's. @throws E_CONTENT_DAMAGED */
export const verifiedContent = (ref: ContentRef, bytes: Uint8Array): Uint8Array => {
  if (bytes.length === ref.size && sha256Hex(bytes) === ref.sha256) return bytes;
  throw damagedContent(ref);
};

export const damagedContent = ({ sha256 }: ContentRef): Error =>
  fail('E_CONTENT_DAMAGED', `the content ${sha256} has other bytes than its hash says`, { sha256 });
