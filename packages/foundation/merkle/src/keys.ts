import { sha256 } from '@stemma/canonical';
import { fail } from '@stemma/errors';
import { createPrivateKey, createPublicKey, sign, verify } from 'node:crypto';

/** A key for signed notes (C2SP signed-note, Ed25519). */
export type NoteKey = { readonly name: string; readonly id: Buffer; readonly publicKey: Buffer };
/** With its secret half: 32 bytes. */
export type SigningKey = NoteKey & { readonly seed: Buffer };

const ED25519 = 1;
/** What stands before the 32 bytes of a key in DER: PKCS #8 and SubjectPublicKeyInfo (RFC 8410). */
const PRIVATE_DER = Buffer.from('302e020100300506032b657004220420', 'hex');
const PUBLIC_DER = Buffer.from('302a300506032b6570032100', 'hex');

const idOf = (name: string, publicKey: Uint8Array): Buffer =>
  Buffer.from(sha256(Buffer.concat([Buffer.from(`${name}\n`), Buffer.of(ED25519), publicKey]))).subarray(
    0,
    4,
  );

const privateKeyOf = (seed: Uint8Array): ReturnType<typeof createPrivateKey> =>
  createPrivateKey({ key: Buffer.concat([PRIVATE_DER, seed]), format: 'der', type: 'pkcs8' });

/** A key of a name without spaces and `+`. @param seed 32 random bytes, which nobody else knows */
export const signingKey = (name: string, seed: Uint8Array): SigningKey => {
  const der = createPublicKey(privateKeyOf(seed)).export({ format: 'der', type: 'spki' });
  const publicKey = der.subarray(PUBLIC_DER.length);
  return { name, id: idOf(name, publicKey), publicKey, seed: Buffer.from(seed) };
};

const typed = (key: Uint8Array): string => Buffer.concat([Buffer.of(ED25519), key]).toString('base64');

/** `NAME+ID+KEY`: what others check signatures with. */
export const encodePublicKey = ({ name, id, publicKey }: NoteKey): string =>
  `${name}+${id.toString('hex')}+${typed(publicKey)}`;

/** `PRIVATE+KEY+NAME+ID+SEED`. */
export const encodeSigningKey = ({ name, id, seed }: SigningKey): string =>
  `PRIVATE+KEY+${name}+${id.toString('hex')}+${typed(seed)}`;

/** @throws E_KEY_INVALID */
export const decodePublicKey = (text: string): NoteKey => {
  const { name, id, key } = partsOf(text.trim());
  if (!idOf(name, key).equals(id)) throw invalid();
  return { name, id, publicKey: key };
};

/** @throws E_KEY_INVALID */
export const decodeSigningKey = (text: string): SigningKey => {
  const line = text.trim();
  if (!line.startsWith('PRIVATE+KEY+')) throw invalid();
  const { name, id, key } = partsOf(line.slice('PRIVATE+KEY+'.length));
  const signing = signingKey(name, key);
  if (!signing.id.equals(id)) throw invalid();
  return signing;
};

const partsOf = (text: string): { readonly name: string; readonly id: Buffer; readonly key: Buffer } => {
  const [, name = '', id = '', encoded = ''] =
    /^([^\s+]+)\+([\da-f]{8})\+([A-Za-z\d+/]+=*)$/.exec(text) ?? [];
  const bytes = Buffer.from(encoded, 'base64');
  if (bytes.length !== 33 || bytes[0] !== ED25519) throw invalid();
  return { name, id: Buffer.from(id, 'hex'), key: bytes.subarray(1) };
};

const invalid = (): Error => fail('E_KEY_INVALID', 'this is no key for checkpoints (Ed25519, NAME+ID+KEY)');

export const signBytes = ({ seed }: SigningKey, bytes: Uint8Array): Buffer =>
  sign(null, bytes, privateKeyOf(seed));

export const isSignedBy = ({ publicKey }: NoteKey, bytes: Uint8Array, signature: Uint8Array): boolean =>
  verify(
    null,
    bytes,
    createPublicKey({ key: Buffer.concat([PUBLIC_DER, publicKey]), format: 'der', type: 'spki' }),
    signature,
  );
