import { isStemmaError } from '@stemma/errors';
import { openMemoryLog, type EventLog } from '@stemma/log';
import { encodePublicKey, signingKey } from '@stemma/merkle';
import { sized } from '@stemma/test-kit';
import fc from 'fast-check';
import { execFileSync } from 'node:child_process';
import { hash } from 'node:crypto';
import { readFileSync, rmSync, symlinkSync, truncateSync, writeFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import {
  checkProof,
  parseProof,
  proveFrame,
  proveGrowth,
  publicKeyFrom,
  readCheckpoint,
  signLog,
  verifySince,
  type LogProof,
} from '../src/index.ts';
import {
  backUpTo,
  filesIn,
  framesOf,
  openLog,
  recordsOf,
  restoreTo,
  temporaryFolder,
  writeNotes,
} from './backup-kit.ts';

const KEY = signingKey('test', Buffer.alloc(32, 1));
const HISTORIES = ['ha', 'hb', 'hc', 'hd'];

const since = (log: EventLog, text: string): Promise<unknown> => verifySince(log, readCheckpoint(text, KEY));
const H = (...parts: readonly Uint8Array[]): Uint8Array => hash('sha256', Buffer.concat(parts), 'buffer');
/** RFC 6962 §2.1, word for word. */
const MTH = (D: readonly Uint8Array[]): Uint8Array => {
  if (D.length === 0) return H();
  if (D.length === 1) return H(Uint8Array.of(0), D[0] ?? H());
  const k = 2 ** Math.ceil(Math.log2(D.length) - 1);
  return H(Uint8Array.of(1), MTH(D.slice(0, k)), MTH(D.slice(k)));
};

it('a public key is its text, or a file with it; a pipe, a folder or an endless device is refused by what it is', () => {
  using folder = temporaryFolder();
  const key = encodePublicKey(KEY);
  const { at } = folder;
  writeFileSync(at('key'), `${key}\n`);
  execFileSync('mkfifo', [at('pipe')]);
  symlinkSync('/dev/zero', at('device'));
  for (const given of [key, at('key')]) expect(publicKeyFrom(given).name).toBe('test');
  for (const [given, what] of [
    [at('pipe'), 'is a pipe'],
    [folder.path, 'is a folder'],
    [at('device'), 'is a device'],
    [at('nothing'), 'neither a public key nor a file with one'],
  ] as const)
    expect(() => publicKeyFrom(given)).toThrow(
      expect.objectContaining({ code: 'E_KEY_INVALID', message: expect.stringContaining(what) as string }),
    );
});

it(
  'a checkpoint has the root of RFC 6962 over the hashes of the accepted frames of each partition, and later ones continue it',
  { tags: ['decision-0059'] },
  async () => {
    const log = await openMemoryLog({ partitions: 3 });
    const texts: string[] = [];
    for (const run of ['a', 'b', 'c']) {
      texts.push((await signLog(log, KEY)).text);
      await writeNotes(log, HISTORIES, 7, run);
    }
    const frames = await framesOf(log);
    const { text, partitions } = await signLog(log, KEY);
    for (const { partition, size, root } of partitions) {
      const hashes = frames
        .filter((line) => line.startsWith(`${partition} `))
        .map((line) => Buffer.from(line.split(' ')[2] ?? '', 'hex'));
      expect([size, root]).toEqual([hashes.length, Buffer.from(MTH(hashes)).toString('base64')]);
    }
    for (const [i, older] of texts.entries()) {
      await since(log, older);
      for (const newer of [...texts.slice(i), text]) {
        const proof = await proveGrowth(log, older, newer);
        expect(checkProof(parseProof(JSON.stringify(proof)), KEY)).toContain('only grew');
      }
    }
    await expect(proveGrowth(log, text, texts[1] ?? '')).rejects.toMatchObject({ code: 'E_USAGE' });
  },
);

it(
  'a proof of a frame is checked without the log, and a change of any part is refused',
  { tags: ['decision-0059'] },
  async () => {
    const log = await openMemoryLog({ partitions: 2 });
    await writeNotes(log, HISTORIES, 9, 'x');
    const { text } = await signLog(log, KEY);
    await writeNotes(log, HISTORIES, 2, 'y');
    const proof = await proveFrame(log, 'hb', 5, text, true);
    expect(checkProof(proof, KEY)).toContain('frame 5 of hb');
    expect(checkProof(proof, null)).toMatch(
      /^if the checkpoint is genuine, which is not checked: frame 5 of hb/,
    );
    if (!('bytes' in proof)) throw new Error('another proof');
    const other = (await signLog(log, signingKey('test', Buffer.alloc(32, 2)))).text;
    const wrong: LogProof[] = [
      { ...proof, frame: proof.frame.replace(/^./, (c) => (c === '0' ? '1' : '0')) },
      { ...proof, index: proof.index + 1 },
      { ...proof, partition: 1 - proof.partition },
      { ...proof, partition: 2 },
      { ...proof, bytes: (await shownFrame(log, 'hb', 4, text)).bytes },
      { ...proof, bytes: '' },
      { ...proof, hashes: proof.hashes.slice(1) },
      { ...proof, checkpoint: text.replace('memory', 'memorx') },
      { ...proof, checkpoint: other },
      { ...proof, checkpoint: (await signLog(log, KEY)).text },
    ];
    for (const each of wrong)
      expect(() => checkProof(each, KEY), JSON.stringify(each)).toThrow(/E_|proof|checkpoint/);
    await expect(proveFrame(log, 'hb', 10, text)).rejects.toMatchObject({ code: 'E_NOT_FOUND' });
    for (const broken of ['', '{}', '[]', JSON.stringify({ ...proof, index: -1 })])
      expect(() => parseProof(broken)).toThrow('proof');
  },
);

const shownFrame = async (log: EventLog, history: string, seq: number, text: string) => {
  const proof = await proveFrame(log, history, seq, text, true);
  if (!('bytes' in proof)) throw new Error('another proof');
  return proof;
};

it(
  'a proof that is edited anywhere is refused, or says what it said before',
  { tags: ['decision-0059'] },
  async () => {
    const log = await openMemoryLog({ partitions: 2 });
    await writeNotes(log, HISTORIES, 9, 'x');
    const older = (await signLog(log, KEY)).text;
    await writeNotes(log, HISTORIES, 2, 'y');
    const newer = (await signLog(log, KEY)).text;
    const proofs = [
      await proveFrame(log, 'hb', 5, newer),
      await proveFrame(log, 'hb', 5, newer, true),
      await proveGrowth(log, older, newer),
    ].map((proof) => ({ text: JSON.stringify(proof), said: checkProof(proof, KEY) }));
    const outcomeOf = (text: string): string | null => {
      try {
        return checkProof(parseProof(text), KEY);
      } catch (error) {
        expect(isStemmaError(error), String(error)).toBe(true);
        return null;
      }
    };
    const character = fc.constantFrom(...Array.from('0123456789abcdefABCDEF+/=,:"{}[]\\n -'));
    fc.assert(
      fc.property(fc.constantFrom(...proofs), fc.nat(), character, fc.nat(3), ({ text, said }, n, c, cut) => {
        const at = n % text.length;
        const edited = text.slice(0, at) + c + text.slice(at + cut);
        expect([null, said]).toContain(outcomeOf(edited));
      }),
      { numRuns: sized(300, 3_000) },
    );
  },
);

it(
  'a proof of the first version is read, and says of history and number that it does not prove them',
  { tags: ['decision-0059'] },
  async () => {
    const log = await openMemoryLog({ partitions: 2 });
    await writeNotes(log, HISTORIES, 9, 'x');
    const { text } = await signLog(log, KEY);
    const { version: _version, bytes: _bytes, ...place } = await shownFrame(log, 'hb', 5, text);
    for (const [history, seq] of [
      ['hb', 5],
      ['ha', 7],
    ] as const)
      expect(checkProof(parseProof(JSON.stringify({ ...place, history, seq })), KEY)).toMatch(
        new RegExp(
          `^a frame with the hash .* says that it is frame ${seq} of ${history}, and does not prove that: make`,
        ),
      );
    expect(checkProof(await proveFrame(log, 'hb', 5, text), KEY)).toMatch(
      /^a frame with the hash [\da-f]{64} is number .*; the proof does not show which frame/,
    );
  },
);

it(
  'a checkpoint shows that the newest frames were cut off, also without lock, rows and id, and that others replaced them',
  { tags: ['decision-0059'] },
  async () => {
    using folder = temporaryFolder();
    let log = await openLog(folder.at('home'), 1);
    await writeNotes(log, HISTORIES, 10, 'x');
    const early = (await signLog(log, KEY)).text;
    await writeNotes(log, HISTORIES, 10, 'y');
    const late = (await signLog(log, KEY)).text;
    expect(await since(log, early)).toEqual([{ partition: 0, then: 40, now: 80 }]);
    await backUpTo(log, folder.at('b'));
    const offsets = (await recordsOf(log)).map((line) => Number(/@(\d+)/.exec(line)?.[1]));
    await log.close();

    // Whole entries are cut, so nothing that is left is damaged.
    const cut = offsets.at(-4) ?? 0;
    for (const file of filesIn(folder.at('home/log/0'))) {
      const base = Number(/(\d+)\.seg/.exec(file)?.[1]);
      if (base >= cut) rmSync(file);
      else if (base + readFileSync(file).length > cut) truncateSync(file, cut - base);
    }
    for (const name of ['lock', 'gate', 'holder', 'id'])
      rmSync(folder.at(`home/log/${name}`), { recursive: true, force: true });
    log = await openLog(folder.at('home'));
    await expect(since(log, late)).rejects.toMatchObject({ code: 'E_LOG_TRUNCATED' });
    await since(log, early);
    await writeNotes(log, HISTORIES, 2, 'z');
    await expect(since(log, late)).rejects.toMatchObject({ code: 'E_LOG_ALTERED' });
    await log.close();

    // A restored log is the same log; another one is not.
    await restoreTo(folder.at('b'), folder.at('r'));
    const restored = await openLog(folder.at('r'));
    await since(restored, late);
    await restored.close();
    const other = await openLog(folder.at('other'));
    await expect(since(other, early)).rejects.toMatchObject({ code: 'E_CHECKPOINT_MISMATCH' });
    await other.close();
  },
);

it(
  'a checkpoint shows that a byte of an earlier frame was changed',
  { tags: ['decision-0059'] },
  async () => {
    using folder = temporaryFolder();
    let log = await openLog(folder.at('home'), 1);
    await writeNotes(log, HISTORIES, 5, 'x');
    const { text } = await signLog(log, KEY);
    await writeNotes(log, HISTORIES, 5, 'y');
    const offset = Number(/@(\d+)/.exec((await recordsOf(log))[7] ?? '')?.[1]);
    await log.close();
    const file =
      filesIn(folder.at('home/log/0')).findLast((path) => Number(/(\d+)\.seg/.exec(path)?.[1]) <= offset) ??
      '';
    const bytes = readFileSync(file);
    const at = offset - Number(/(\d+)\.seg/.exec(file)?.[1]) + 80;
    bytes[at] = (bytes[at] ?? 0) ^ 1;
    writeFileSync(file, bytes);
    log = await openLog(folder.at('home'));
    // The frames of its history are no longer accepted: there are others in their places, or fewer.
    await expect(since(log, text)).rejects.toMatchObject({
      code: expect.stringMatching(/E_LOG_(ALTERED|TRUNCATED)/) as string,
    });
    await log.close();
  },
);
