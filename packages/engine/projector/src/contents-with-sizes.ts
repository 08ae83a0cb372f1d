import { ContentRef } from '@stemma/canonical';
import { fail, isStemmaError } from '@stemma/errors';
import type { DEFECTS } from '@stemma/history-store';
import type { ContentSource } from '@stemma/log';
import type { NamedRow } from '@stemma/row-store';

/** The same contents, whose errors have the hash and the length of the content. */
export const contentsWithSizes = (contents: ContentSource): ContentSource => ({
  sealer: contents.sealer,
  async get(ref) {
    try {
      return await contents.get(ref);
    } catch (error) {
      if (!isContentError(error)) throw error;
      throw fail(error.code, error.message, { ...error.detail, sha256: ref.sha256, size: ref.size });
    }
  },
});

type Defect = Pick<NamedRow<typeof DEFECTS>, 'sha256' | 'size'>;

/** True if a history is defective only for a content that is there now. */
export const hasRestoredContent = async (
  defects: readonly Defect[],
  contents: ContentSource,
): Promise<boolean> => {
  for (const defect of defects) if (await isContentRestored(defect, contents)) return true;
  return false;
};

/** True for a row of `defects` whose content was missing or damaged and can be read now (record §4). */
const isContentRestored = async ({ sha256, size }: Defect, contents: ContentSource): Promise<boolean> => {
  if (sha256 === null || size === null) return false;
  try {
    await contents.get(new ContentRef(sha256, size));
    return true;
  } catch (error) {
    if (isContentError(error)) return false;
    throw error;
  }
};

const isContentError = (error: unknown): error is ReturnType<typeof fail> =>
  isStemmaError(error, 'E_CONTENT_MISSING') || isStemmaError(error, 'E_CONTENT_DAMAGED');
