import { historyId } from '@stemma/history';
import { spawnSync } from 'node:child_process';
import { readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { readForeignProof } from './foreign-proof-reader.ts';
import { runStemma, stemmaJson, temporaryFolder } from './run-stemma.ts';

const SAMPLES = join(import.meta.dirname, '../../../samples');

/** A second implementation of the two checks, in another language, from RFC 9162, sections 2.1.3.2 and 2.1.4.2. */
const PYTHON = `
import sys, json, hashlib, base64
b = base64.b64decode
H = lambda l, r: hashlib.sha256(b'\\x01' + l + r).digest()
def head(note):
    lines = note.split('\\n'); return int(lines[1]), b(lines[2])
p = json.load(sys.stdin)
if p['proof'] == 'inclusion':
    size, root = head(p['checkpoint'])
    r = hashlib.sha256(b'\\x00' + bytes.fromhex(p['frame'])).digest()
    fn, sn = p['index'], size - 1
    assert fn <= sn
    for v in map(b, p['hashes']):
        assert sn != 0
        if fn & 1 or fn == sn:
            r = H(v, r)
            while not fn & 1 and fn != 0: fn >>= 1; sn >>= 1
        else: r = H(r, v)
        fn >>= 1; sn >>= 1
    assert sn == 0 and r == root
else:
    (m, first), (n, second) = head(p['older']), head(p['newer'])
    path = [b(x) for x in p['partitions'][0]]
    assert 0 < m < n
    if m & (m - 1) == 0: path = [first] + path
    fn, sn = m - 1, n - 1
    while fn & 1: fn >>= 1; sn >>= 1
    fr = sr = path[0]
    for c in path[1:]:
        assert sn != 0
        if fn & 1 or fn == sn:
            fr = H(c, fr); sr = H(c, sr)
            while not fn & 1 and fn != 0: fn >>= 1; sn >>= 1
        else: sr = H(sr, c)
        fn >>= 1; sn >>= 1
    assert sn == 0 and fr == first and sr == second
print('ok')
`;
const hasPython = spawnSync('python3', ['--version']).status === 0;

test(
  'a signed checkpoint is verified later, and its proofs are checked without the log, by the command and by another program',
  { tags: ['decision-0059'] },
  async () => {
    using folder = temporaryFolder();
    const at = (name: string): string => join(folder.path, name);
    const home = ['--home', at('home')];
    const run = async (...args: string[]): Promise<string> => {
      const { code, stdout, stderr } = await runStemma(args);
      expect([code, args, code === 0 ? '' : stderr]).toEqual([0, args, '']);
      return stdout;
    };
    await run('import', join(SAMPLES, 'harbour-tram.chat.json'), '--history', 'tram', ...home);
    const first = await runStemma(['checkpoint', '--out', at('1'), ...home]);
    const publicKey = /public key: (\S+)/.exec(first.stderr)?.[1] ?? '';
    expect(statSync(at('home/checkpoint.key')).mode & 0o777).toBe(0o600);
    await run('import', join(SAMPLES, 'slow-checkout.steps.jsonl'), '--history', 'slow', ...home);
    expect(await stemmaJson(['checkpoint', '--out', at('2'), ...home])).toMatchObject({ publicKey });
    writeFileSync(at('key.pub'), `${publicKey}\n`);
    expect(await run('verify', '--since', at('1'), '--public-key', at('key.pub'), ...home)).toContain(
      'no problems',
    );

    const proofs = [
      ['--frame', 'tram@2'],
      ['--frame', 'tram@2', '--at', at('1')],
      ['--frame', 'tram@2', '--show-frame', '--at', at('1')],
      ['--consistency', at('1'), at('2')],
    ];
    const apart = ['--home', at('nowhere')];
    for (const [i, proof] of proofs.entries()) {
      const path = at(`proof-${i}`);
      await run('checkpoint', 'prove', ...proof, '--out', path, ...home);
      const shown = JSON.parse(
        await run('checkpoint', 'check', path, '--public-key', publicKey, '--json', ...apart),
      ) as object;
      expect(shown).toMatchObject({ ok: true, signature: expect.stringContaining('stemma.log/') as string });
      if (hasPython)
        expect(spawnSync('python3', ['-c', PYTHON], { input: readFileSync(path) }).stdout.toString()).toBe(
          'ok\n',
        );
      if (proof[0] === '--frame') {
        const read = readForeignProof(readFileSync(path, 'utf8'), publicKey);
        const { frame, index, size, origin, named } = read;
        const where = `with the hash ${frame} is number ${index} of ${size} in ${origin}`;
        const { shows } = shown as { readonly shows: string };
        if (named !== null) expect(shows).toBe(`frame ${named.seq} of ${named.history} ${where}`);
        else expect(shows).toMatch(new RegExp(`^a frame ${where}; the proof does not show which`));
        const wanted = proof.includes('--show-frame') ? { history: historyId('tram', ''), seq: 2 } : null;
        expect(named).toEqual(wanted);
      }
      const altered = JSON.parse(readFileSync(path, 'utf8')) as {
        hashes?: string[];
        partitions?: string[][];
      };
      (altered.hashes ?? altered.partitions?.[0] ?? []).reverse();
      writeFileSync(path, JSON.stringify(altered));
      expect(await runStemma(['checkpoint', 'check', path, ...apart])).toMatchObject({ code: 5 });
    }

    // Another key would sign as if it were the same: only who deletes the note gets one.
    rmSync(at('home/checkpoint.key'));
    const refused = await runStemma(['checkpoint', '--out', at('3'), ...home]);
    expect(refused).toMatchObject({ code: 74, stderr: expect.stringContaining('E_FILE_GONE') as string });
    const examined = await runStemma(['doctor', ...home]);
    expect(examined).toMatchObject({
      code: 5,
      stdout: expect.stringContaining('checkpoint.key is missing') as string,
    });
    await run('thread', 'tram', ...home);
    rmSync(at('home/noted/checkpoint.key'));
    await run('checkpoint', '--out', at('3'), ...home);
    for (const [args, code] of [
      [['verify', '--since', at('3'), '--public-key', publicKey], 5],
      [['verify', '--since', at('key.pub')], 5],
      [['verify', '--since', at('1'), '--public-key', 'nothing'], 64],
      [['checkpoint', 'prove', '--frame', 'tram'], 64],
      [['checkpoint', 'prove', '--frame', 'tram@999'], 1],
      [['checkpoint', 'prove'], 64],
      [['checkpoint', 'prove', '--consistency', at('1'), at('2'), '--show-frame'], 64],
    ] as const)
      expect(await runStemma([...args, ...home]), args.join(' ')).toMatchObject({ code });
  },
);
