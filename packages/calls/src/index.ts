export {
  type BaseBody,
  type EncodedBody,
  encodeBody,
  MAX_RECORDED,
  readBody,
  type StoredBody,
} from './body-in-pieces.ts';
export { cutPieces, type BodyPiece } from './copied-pieces.ts';
export { readBodyAt, requestCompanion, responseCompanion } from './stored-body.ts';
