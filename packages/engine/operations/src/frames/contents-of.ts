import type { ContentRef } from '@stemma/canonical';
import type { ContentStore } from '@stemma/contents';
import { isStemmaError } from '@stemma/errors';
import { decodeBody, missingContents, type AcceptedFrame } from '@stemma/log';

/** A content with its hash. */
export type NamedContent = { readonly ref: ContentRef; readonly bytes: Uint8Array };

/**
 * The contents that a frame names, and those that they name, verified. A frame that cannot be decoded names none.
 *
 * @throws E_CONTENT_MISSING, E_CONTENT_DAMAGED
 */
export const contentsOf = async (
  { envelope, bytes, bodyAt }: Pick<AcceptedFrame, 'envelope' | 'bytes' | 'bodyAt'>,
  from: Pick<ContentStore, 'get'>,
): Promise<readonly NamedContent[]> => {
  const fetched = new Map<string, NamedContent>();
  const find = (ref: ContentRef): Uint8Array | undefined => fetched.get(ref.sha256)?.bytes;
  try {
    const body = decodeBody(envelope.v, bytes, bodyAt);
    for (let missing = missingContents(body, find); missing.length > 0; missing = missingContents(body, find))
      for (const ref of missing) fetched.set(ref.sha256, { ref, bytes: await from.get(ref) });
  } catch (error) {
    if (!isStemmaError(error, 'E_FRAME_INVALID')) throw error;
  }
  return [...fetched.values()];
};
