export { canonicalJson } from './canonical-json.ts';
export { compareBytes, compareCodePoints, compareNumbers } from './compare.ts';
export {
  base32Digest,
  fromHex,
  latin1Bytes,
  sha256,
  sha256Hex,
  shake128,
  shake128Text,
  toHex,
} from './hash.ts';
export {
  isForbiddenKey,
  isJsonObject,
  type Json,
  MAX_DEPTH,
  type WideJson,
  type WideJsonObject,
} from './json-value.ts';
export { listOf, objectOf, textOf } from './json-fields.ts';
export { bytesIn, joinBytes } from './join-bytes.ts';
export { lowerBound } from './lower-bound.ts';
export { type ByteCursor, readVarint } from './varint.ts';
export { ownCopy } from './own-copy.ts';
export { ContentRef, MAX_PACKED_DEPTH, pack, type Packable } from './pack.ts';
export { type JsonReader } from './json-reader.ts';
export { type JsonReading } from './json-reading.ts';
export { openWideJsonReader, parseJson, parseWideJson } from './parse-json.ts';
export { readJson } from './read-json.ts';
export { sameJson } from './same-json.ts';
export { binariesIfRead, openUnpacker, unpack, unpackFrom, type Unpacker } from './unpack.ts';
