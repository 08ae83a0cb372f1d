export { provesConsistency, provesInclusion, type InclusionClaim, type TreeState } from './check-proofs.ts';
export {
  decodePublicKey,
  decodeSigningKey,
  encodePublicKey,
  encodeSigningKey,
  signingKey,
  type NoteKey,
  type SigningKey,
} from './keys.ts';
export { checkSignature, parseHeads, signHead, type SignedHead, type TreeHead } from './notes.ts';
export {
  consistencyProof,
  EMPTY_TREE,
  inclusionProof,
  leafHash,
  nodeHash,
  rootOf,
  withLeaf,
  type GrowingTree,
} from './tree.ts';
