export { canonicalJson } from './canonical-json.ts';
export { compareBytes, compareCodePoints, compareNumbers } from './compare.ts';
export { base32Digest, fromHex, sha256, sha256Hex, shake128, toHex } from './hash.ts';
export {
  isForbiddenKey,
  isJsonObject,
  MAX_DEPTH,
  type Json,
  type JsonObject,
  type WideJson,
  type WideJsonObject,
} from './json-value.ts';
export { ContentRef, pack, type Packable } from './pack.ts';
export { parseJson, parseWideJson } from './parse-json.ts';
export { unpack, unpackFrom, type Unpacked } from './unpack.ts';
