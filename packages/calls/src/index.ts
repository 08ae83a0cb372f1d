export { chooseBase } from './choose-base.ts';
export { type BaseBody, type EncodedBody, encodeBody, MAX_RECORDED } from './encode-body.ts';
export { type BodySource, readBody, type StoredBody } from './read-body.ts';
export { cutPieces, type BodyPiece } from './copied-pieces.ts';
export { type FrameSource, readBodyAt, requestCompanion, responseCompanion } from './stored-body.ts';
