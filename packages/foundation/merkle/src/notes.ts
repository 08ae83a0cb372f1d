import { fail } from '@stemma/errors';
import type { TreeState } from './check-proofs.ts';
import { isSignedBy, signBytes, type NoteKey, type SigningKey } from './keys.ts';

/** What a checkpoint says (C2SP tlog-checkpoint): whose tree, its size and root, and lines of one's own. */
export type TreeHead = TreeState & { readonly origin: string; readonly extensions: readonly string[] };

/** A tree head and the text that was signed, with the signature lines. */
export type SignedHead = TreeHead & { readonly text: string; readonly signatures: readonly string[] };

const bodyOf = ({ origin, size, root, extensions }: TreeHead): string =>
  [origin, String(size), Buffer.from(root).toString('base64'), ...extensions]
    .map((line) => `${line}\n`)
    .join('');

/** A signed note: the text, an empty line, one line with a signature. */
export const signHead = (head: TreeHead, key: SigningKey): string => {
  const text = bodyOf(head);
  const signature = Buffer.concat([key.id, signBytes(key, Buffer.from(text))]).toString('base64');
  return `${text}\n— ${key.name} ${signature}\n`;
};

/** Notes one after the other, as they stand in a file. @throws E_CHECKPOINT_INVALID; signatures are not looked at */
export const parseHeads = (file: string): readonly SignedHead[] => {
  const heads: SignedHead[] = [];
  let rest = file;
  while (rest !== '') {
    const [note = '', text = '', signed = ''] =
      /^((?:[^\n]+\n){3,20})\n((?:— [^\s+]+ [A-Za-z\d+/]+=*\n)+)/.exec(rest) ?? [];
    if (note === '') throw invalid('it is no signed note');
    const [origin = '', size = '', root = '', ...extensions] = text.split('\n').slice(0, -1);
    const bytes = Buffer.from(root, 'base64');
    const count = Number(size);
    if (!/^(0|[1-9]\d*)$/.test(size) || !Number.isSafeInteger(count))
      throw invalid('its second line is no size');
    if (bytes.length !== 32 || bytes.toString('base64') !== root) throw invalid('its third line is no hash');
    heads.push({
      origin,
      size: count,
      root: bytes,
      extensions,
      text,
      signatures: signed.trimEnd().split('\n'),
    });
    rest = rest.slice(note.length);
  }
  if (heads.length === 0) throw invalid('it is empty');
  return heads;
};

/** @throws E_CHECKPOINT_INVALID unless the key has signed the note */
export const checkSignature = ({ text, signatures }: SignedHead, key: NoteKey): void => {
  for (const line of signatures) {
    const [, name, encoded = ''] = /^— (\S+) (\S+)$/.exec(line) ?? [];
    const bytes = Buffer.from(encoded, 'base64');
    if (name !== key.name || !bytes.subarray(0, 4).equals(key.id)) continue;
    if (isSignedBy(key, Buffer.from(text), bytes.subarray(4))) return;
    throw invalid(`its signature is not one of ${key.name}`);
  }
  throw invalid(`${key.name} has not signed it with this key`);
};

const invalid = (why: string): Error => fail('E_CHECKPOINT_INVALID', `the checkpoint cannot be used: ${why}`);
