export { chooseBase } from './choose-base.ts';
export { type BaseBody, type EncodedBody, encodeBody, type UnkeptBody } from './encode-body.ts';
export { type BodySource, notKept, readBody, type StoredBody } from './read-body.ts';
export { cutPieces, type BodyPiece } from './copied-pieces.ts';
export { type FrameSource, readBodyAt, requestCompanion, responseCompanion } from './stored-body.ts';
