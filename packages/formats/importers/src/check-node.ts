import { pack, type Packable, type WideJsonObject } from '@stemma/canonical';
import { isHeaderName, parseNodeInput } from '@stemma/context-tree';
import { fail, isStemmaError, StemmaError } from '@stemma/errors';

/** The most bytes of one content in its msgpack encoding (record §4). */
const MAX_CONTENT_BYTES = 64 * 1024 * 1024;

/**
 * Refuses early what the decision of the command would refuse, so that no file is recorded by half.
 *
 * @throws E_INPUT_SHAPE, E_INPUT_NUMBER, E_INPUT_TOO_DEEP, E_INPUT_SURROGATE, E_INPUT_FORBIDDEN_KEY, E_KEY_TOO_LONG,
 *   E_CONTENT_TOO_LARGE; `where` names the message or the line.
 */
export const checkNode = (node: WideJsonObject, where: string): void => {
  try {
    parseNodeInput(node, { code: 'E_INPUT_SHAPE', what: where });
  } catch (error) {
    throw isStemmaError(error) ? errorAt(error, where) : error;
  }
  for (const [name, value] of Object.entries(node)) {
    if (isHeaderName(name)) continue;
    const bytes = packedSize(value);
    if (bytes > MAX_CONTENT_BYTES)
      throw fail(
        'E_CONTENT_TOO_LARGE',
        `${where}: ${name} has ${bytes} bytes, more than ${MAX_CONTENT_BYTES}`,
        {
          bytes,
          limit: MAX_CONTENT_BYTES,
        },
      );
  }
};

/** The same error with its place in the file. */
export const errorAt = (error: StemmaError, where: string): StemmaError =>
  new StemmaError(error.code, `${where}: ${error.message}`, error.detail, { cause: error });

const packedSize = (value: Packable): number =>
  typeof value === 'string'
    ? Buffer.byteLength(value) + 5
    : typeof value === 'object'
      ? pack(value).length
      : 9;
