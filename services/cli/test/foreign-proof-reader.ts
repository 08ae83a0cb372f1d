import { createHash, createPublicKey, verify } from 'node:crypto';

/*
 * A second implementation of the check of a proof, written from docs/checkpoints.md alone. It must import nothing of Stemma: what
 * it needs and the page does not say is a fault of the page.
 */
type Proof = Readonly<Record<string, unknown>>;
type Note = { readonly origin: string; readonly size: number; readonly root: Buffer };

const sha256 = (...parts: readonly Uint8Array[]): Buffer =>
  createHash('sha256').update(Buffer.concat(parts)).digest();
const node = (left: Uint8Array, right: Uint8Array): Buffer => sha256(Buffer.of(1), left, right);
const must = (holds: boolean, what: string): void => {
  if (!holds) throw new Error(what);
};

const isSigned = (text: string, lines: readonly string[], publicKey: string): boolean => {
  const [name = '', id = '', encoded = ''] = /^([^+]+)\+([^+]+)\+(.+)$/.exec(publicKey)?.slice(1) ?? [];
  const typed = Buffer.from(encoded, 'base64');
  must(
    sha256(Buffer.from(`${name}\n`), typed)
      .subarray(0, 4)
      .toString('hex') === id,
    'key id',
  );
  const key = createPublicKey({
    key: { kty: 'OKP', crv: 'Ed25519', x: typed.subarray(1).toString('base64url') },
    format: 'jwk',
  });
  return lines.some((line) => {
    const [, signer, signature = ''] = line.split(' ');
    const bytes = Buffer.from(signature, 'base64');
    return (
      signer === name &&
      bytes.subarray(0, 4).toString('hex') === id &&
      verify(null, Buffer.from(text), key, bytes.subarray(4))
    );
  });
};

const notesIn = (checkpoint: unknown, publicKey: string): readonly Note[] => {
  const notes: Note[] = [];
  const partitions: string[] = [];
  for (let rest = String(checkpoint); rest !== '';) {
    const [note = '', text = '', signed = ''] = /^((?:[^\n]+\n)+)\n((?:— [^\n]+\n)+)/.exec(rest) ?? [];
    must(note !== '' && isSigned(text, signed.trimEnd().split('\n'), publicKey), 'signature');
    const [origin = '', size = '', root = '', fourth = ''] = text.split('\n');
    notes.push({ origin, size: Number(size), root: Buffer.from(root, 'base64') });
    partitions.push(fourth);
    rest = rest.slice(note.length);
  }
  const log = /^stemma\.log\/(.+)\/0$/.exec(notes[0]?.origin ?? '')?.[1] ?? '';
  for (const [p, { origin }] of notes.entries()) {
    must(origin === `stemma.log/${log}/${p}`, 'origin');
    must(partitions[p] === `partitions ${notes.length}`, 'partitions');
  }
  return notes;
};

const envelopeOf = (frame: Buffer): { history: string; seq: number } => {
  const parts = { at: 0 };
  const take = (length: number): Buffer => frame.subarray(parts.at, (parts.at += length));
  const expectBytes = (...bytes: readonly (number | string)[]): void => {
    const wanted = Buffer.concat(bytes.map((b) => (typeof b === 'string' ? Buffer.from(b) : Buffer.of(b))));
    must(take(wanted.length).equals(wanted), 'envelope');
  };
  const big = (length: number): number => Number(BigInt(`0x${take(length).toString('hex')}`));
  expectBytes(0x84, 0xa7, 'history');
  const [head = 0] = take(1);
  const history = take(head === 0xd9 ? big(1) : head === 0xda ? big(2) : head - 0xa0).toString('utf8');
  expectBytes(0xa4, 'prev', 0xc4, 0x20);
  take(32);
  expectBytes(0xa3, 'seq');
  const [first = 0] = take(1);
  return { history, seq: first < 0x80 ? first : big(2 ** (first - 0xcc)) };
};

/** What a proof that a frame is there shows. @throws Error if it does not */
export const readForeignProof = (json: string, publicKey: string) => {
  const proof = JSON.parse(json) as Proof;
  must(proof['proof'] === 'inclusion' && proof['version'] === 2, 'version');
  const note = notesIn(proof['checkpoint'], publicKey)[Number(proof['partition'])] as Note;
  const frame = String(proof['frame']);
  const index = Number(proof['index']);
  let [hash, fn, sn] = [sha256(Buffer.of(0), Buffer.from(frame, 'hex')), index, note.size - 1];
  must(fn <= sn, 'index');
  for (const each of proof['hashes'] as readonly string[]) {
    must(sn !== 0, 'path');
    const next = Buffer.from(each, 'base64');
    if (fn % 2 === 1 || fn === sn) {
      hash = node(next, hash);
      while (fn % 2 === 0 && fn !== 0) [fn, sn] = [fn >> 1, sn >> 1];
    } else hash = node(hash, next);
    [fn, sn] = [fn >> 1, sn >> 1];
  }
  must(sn === 0 && hash.equals(note.root), 'root');
  const shown = { frame, index, size: note.size, origin: note.origin };
  if (proof['bytes'] === null) return { ...shown, named: null };
  const bytes = Buffer.from(proof['bytes'] as string, 'base64');
  must(sha256(bytes).toString('hex') === frame, 'frame');
  return { ...shown, named: envelopeOf(bytes) };
};
