import { sha256Hex, type WideJson } from '@stemma/canonical';
import { jsonText } from '@stemma/model-apis';

/** A short hash of a value, by which conversations of different files are told apart where their files do not name them for good. */
export const shortHash = (value: WideJson): string => sha256Hex(jsonText(value)).slice(0, 16);
