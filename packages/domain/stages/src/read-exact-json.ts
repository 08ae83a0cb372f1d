import { readJson } from '@stemma/canonical';
import { noteKeyOrder, type ExactJson } from './exact-json.ts';
import { exactNumber } from './exact-numbers.ts';

/**
 * The value of a JSON text without loss: `1.0` is not `1`, integers have any size, lone surrogates and any key are
 * kept, of a repeated key, which `onRepeatedKey` is told, the last value counts (compiler-stages, Numbers). Linear in the text,
 * nested at most 512 deep.
 *
 * @param what names the text in messages.
 * @throws E_INPUT_NOT_JSON, E_INPUT_TRUNCATED, E_INPUT_TOO_DEEP, E_INPUT_TOO_LARGE, E_INPUT_NUMBER.
 */
export const readExactJson = (
  text: string,
  what = 'the text',
  onRepeatedKey: (key: string) => void = () => undefined,
): ExactJson =>
  readJson(text, {
    what,
    onRepeatedKey,
    anyText: true,
    number: (source) => exactNumber(source, what),
    keyOrder: noteKeyOrder,
  }) as ExactJson;
