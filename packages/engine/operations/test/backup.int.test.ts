import { openMemoryLog, verifyLog, type EventLog } from '@stemma/log';
import { NO_CONTENTS, seeded } from '@stemma/log/contract';
import { sized } from '@stemma/test-kit';
import {
  existsSync,
  mkdirSync,
  readFileSync,
  readdirSync,
  rmSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { createHash } from 'node:crypto';
import { spawnSync } from 'node:child_process';
import { expect, it } from 'vitest';
import {
  backUpTo,
  bytesIn,
  filesIn,
  framesOf,
  openLog,
  recordsOf,
  reportOf,
  restoreTo,
  temporaryFolder,
  writeNotes,
} from './backup-kit.ts';

const HISTORIES = ['ha', 'hb', 'hc'];

/** A home with three histories, and a backup of it in `b`. */
const backedUp = async (folder: { at: (name: string) => string }): Promise<EventLog> => {
  const log = await openLog(folder.at('home'), 2);
  await writeNotes(log, HISTORIES, 20, 'x');
  await backUpTo(log, folder.at('b'));
  return log;
};

it(
  'a backup holds every record that was acknowledged before it began, and a second one copies only what is new',
  { tags: ['decision-0058'] },
  async () => {
    using folder = temporaryFolder();
    const log = await backedUp(folder);
    const before = bytesIn(folder.at('b'));
    await writeNotes(log, HISTORIES, 10, 'y');
    const second = await backUpTo(log, folder.at('b'));
    const after = bytesIn(folder.at('b'));
    for (const [name, bytes] of Object.entries(before))
      if (name !== '/manifest.json') expect(after[name]).toBe(bytes);
    const size = Object.entries(after)
      .filter(([name]) => name.endsWith('.seg') && !(name in before))
      .reduce((sum, [, bytes]) => sum + Buffer.from(bytes, 'base64').length, 0);
    expect(second.added).toEqual({ bytes: size, contents: 0 });
    expect((await backUpTo(log, folder.at('b'))).added.bytes).toBe(0);
    await restoreTo(folder.at('b'), folder.at('restored'));
    const restored = await openLog(folder.at('restored'));
    expect(restored.id).toBe(log.id);
    expect(await recordsOf(restored)).toEqual(await recordsOf(log));
    await writeNotes(restored, HISTORIES, 2, 'z');
    await restored.close();
    await log.close();
  },
);

it(
  'a backup with a flipped byte, a cut or missing file is refused with the place, and nothing is restored from it',
  { tags: ['decision-0058'] },
  async () => {
    using folder = temporaryFolder();
    await (await backedUp(folder)).close();
    const random = seeded(1);
    const refused = async (): Promise<string> => {
      const error: unknown = await restoreTo(folder.at('b'), folder.at('r')).then(
        () => undefined,
        (thrown: unknown) => thrown,
      );
      expect(error).toMatchObject({ code: 'E_BACKUP_DAMAGED' });
      expect(new Set(readdirSync(folder.path))).toEqual(new Set(['b', 'home']));
      return (error as Error).message;
    };
    for (const file of filesIn(folder.at('b'))) {
      const name = file.slice(folder.at('b').length + 1);
      const bytes = readFileSync(file);
      for (let i = 0; i < 40; i++) {
        const altered = Buffer.from(bytes);
        const at = Math.floor(random() * bytes.length);
        altered[at] = (altered[at] ?? 0) ^ (1 << Math.floor(random() * 8));
        writeFileSync(file, altered);
        expect(await refused()).toContain(name);
        truncateSync(file, at);
        expect(await refused()).toContain(name);
      }
      rmSync(file);
      expect(await refused()).toContain(name);
      writeFileSync(file, bytes);
    }
    await restoreTo(folder.at('b'), folder.at('r'));
  },
);

it(
  'an archive that is cut or flipped at any place is refused; an intact one is the same backup',
  { tags: ['decision-0058'] },
  async () => {
    using folder = temporaryFolder();
    const log = await backedUp(folder);
    const path = folder.at('b.tar');
    await backUpTo(log, path);
    const bytes = readFileSync(path);
    const whole = await recordsOf(log);
    await log.close();
    for (let at = 7; at < bytes.length - 1024; at += sized(320, 64)) {
      const altered = Buffer.from(bytes);
      altered[at] = (altered[at] ?? 0) ^ 4;
      writeFileSync(path, altered);
      const outcome: unknown = await restoreTo(path, folder.at('r')).then(
        () => 'restored',
        (error: unknown) => error,
      );
      // A flip in the padding, or in a time or owner that nobody reads, does not change what is restored.
      if (outcome === 'restored') {
        const restored = await openLog(folder.at('r'));
        expect(await recordsOf(restored)).toEqual(whole);
        await restored.close();
        rmSync(folder.at('r'), { recursive: true });
      } else expect(outcome).toMatchObject({ code: 'E_BACKUP_DAMAGED' });
      writeFileSync(path, bytes.subarray(0, at));
      await expect(restoreTo(path, folder.at('r'))).rejects.toMatchObject({ code: 'E_BACKUP_DAMAGED' });
      expect(existsSync(folder.at('r'))).toBe(false);
    }
  },
);

/** The archive with another size in the head of its first file, and the checksum that goes with it. */
const withSize = (archive: Buffer, size: string): Buffer => {
  const altered = Buffer.from(archive);
  altered.write(size.padEnd(12, '\0'), 124, 'latin1');
  altered.fill(' ', 148, 156);
  const sum = altered.subarray(0, 512).reduce((all, byte) => all + byte, 0);
  altered.write(`${sum.toString(8).padStart(6, '0')}\0 `, 148, 'latin1');
  return altered;
};

it.each(['-1000', '-77777777', '77777777777', 'many'])(
  'an archive that says a file has %s bytes is refused, and the reading of it ends',
  { tags: ['decision-0058'], timeout: 20_000 },
  async (size) => {
    using folder = temporaryFolder();
    const log = await backedUp(folder);
    const path = folder.at('b.tar');
    await backUpTo(log, path);
    await log.close();
    writeFileSync(path, withSize(readFileSync(path), size));
    await expect(restoreTo(path, folder.at('r'))).rejects.toMatchObject({ code: 'E_BACKUP_DAMAGED' });
  },
);

const pieceOf = (name: string) => (manifest: string) =>
  manifest.replace(/"name":"log\/0\/[^"]+"/, `"name":${JSON.stringify(name)}`);
it.each([
  ['is no JSON', () => '{'],
  ['is a deep list', () => '['.repeat(200_000)],
  ['names a file outside of it', pieceOf('../../etc/passwd')],
  ['names a file by its whole path', pieceOf('/etc/passwd')],
  ['names a file behind a detour', pieceOf('log/0/../../../etc/passwd')],
  ['counts backwards', (manifest: string) => manifest.replace(/"end":\d+/, '"end":-1')],
  ['has no partition', (manifest: string) => manifest.replace(/"partitions":.*$/s, '"partitions":[]}')],
])(
  'a manifest that %s is refused, although its hash is right',
  { tags: ['decision-0058'], timeout: 20_000 },
  async (_what, alter) => {
    using folder = temporaryFolder();
    await (await backedUp(folder)).close();
    const file = folder.at('b/manifest.json');
    const [, inner = ''] = /"manifest":(.*)\}\n$/s.exec(readFileSync(file, 'utf8')) ?? [];
    const altered = alter(inner);
    expect(altered).not.toBe(inner);
    const sha256 = createHash('sha256').update(altered).digest('hex');
    writeFileSync(file, `{"sha256":"${sha256}","manifest":${altered}}\n`);
    await expect(restoreTo(folder.at('b'), folder.at('r'))).rejects.toMatchObject({
      code: 'E_BACKUP_DAMAGED',
    });
    expect(existsSync(folder.at('r'))).toBe(false);
  },
);

it(
  'a backup run that stops at any step leaves the earlier backup intact, and the next run continues',
  { tags: ['decision-0058'] },
  async () => {
    using folder = temporaryFolder();
    const log = await backedUp(folder);
    const first = await framesOf(log);
    await writeNotes(log, HISTORIES, 10, 'y');
    const all = await recordsOf(log);
    for (let step = 1; ; step++) {
      let steps = 0;
      const failing = (): void => {
        if (++steps === step) throw new Error('the process ends here');
      };
      const stopped = await backUpTo(log, folder.at('b'), { progress: failing }).then(
        () => false,
        () => true,
      );
      await restoreTo(folder.at('b'), folder.at('r'));
      const restored = await openLog(folder.at('r'));
      expect(await framesOf(restored)).toEqual(stopped ? first : await framesOf(log));
      await restored.close();
      rmSync(folder.at('r'), { recursive: true });
      // A half of a file, and a piece that nobody names, are left behind.
      writeFileSync(folder.at('b/log/0/0000000000000000-00000000.seg'), 'half');
      writeFileSync(folder.at('b/log/0/0000000000000000-00000001.seg.tmp'), 'half');
      if (!stopped) {
        expect(step).toBeGreaterThan(3);
        break;
      }
    }
    await backUpTo(log, folder.at('b'));
    expect(filesIn(folder.at('b')).filter((file) => /0000000[01]\.seg/.test(file))).toEqual([]);
    await restoreTo(folder.at('b'), folder.at('r'));
    const restored = await openLog(folder.at('r'));
    expect(await recordsOf(restored)).toEqual(all);
    await restored.close();
    await log.close();
  },
);

it(
  'an unfinished first run is no backup, and the next run uses the files that are still correct',
  { tags: ['decision-0058'] },
  async () => {
    using folder = temporaryFolder();
    const log = await openLog(folder.at('home'), 1);
    await writeNotes(log, HISTORIES, 5, 'x');
    const stop = async (): Promise<void> => {
      let steps = 0;
      // The second step verifies: the records are there, the manifest is not.
      await backUpTo(log, folder.at('b'), {
        progress: () => {
          if (++steps === 2) throw new Error('stop');
        },
      }).catch(() => undefined);
    };
    await stop();
    await expect(restoreTo(folder.at('b'), folder.at('r'))).rejects.toMatchObject({
      code: 'E_BACKUP_DAMAGED',
    });
    const [piece = ''] = filesIn(folder.at('b/log'));
    const kept = await backUpTo(log, folder.at('b'));
    expect(kept.added.bytes).toBe(0);
    expect(filesIn(folder.at('b/log'))).toEqual([piece]);
    rmSync(folder.at('b'), { recursive: true });
    await stop();
    truncateSync(filesIn(folder.at('b/log'))[0] ?? '', 10);
    expect((await backUpTo(log, folder.at('b'))).added.bytes).toBe(await log.end(0));
    await log.close();
  },
);

it(
  'a pipe or a folder in the place of a file of a backup is damage, and nobody waits for it',
  { tags: ['decision-0058'], timeout: 30_000 },
  async ({ skip }) => {
    using folder = temporaryFolder();
    await (await backedUp(folder)).close();
    for (const file of [filesIn(folder.at('b/log'))[0] ?? '', folder.at('b/manifest.json')]) {
      const bytes = readFileSync(file);
      const restored = () => restoreTo(folder.at('b'), folder.at('r'));
      rmSync(file);
      mkdirSync(file);
      await expect(restored()).rejects.toMatchObject({ code: 'E_BACKUP_DAMAGED' });
      rmSync(file, { recursive: true });
      if (spawnSync('mkfifo', [file]).status !== 0) return skip('there are no named pipes');
      await expect(restored()).rejects.toMatchObject({ code: 'E_BACKUP_DAMAGED' });
      rmSync(file);
      writeFileSync(file, bytes);
      rmSync(folder.at('r'), { recursive: true, force: true });
    }
  },
);

it(
  'a damaged log is backed up unchanged: the backup reports the damage, and a restored home stops where the log stopped',
  { tags: ['decision-0058'] },
  async () => {
    using folder = temporaryFolder();
    let log = await openLog(folder.at('home'), 1);
    await writeNotes(log, HISTORIES, 20, 'x');
    const offsets = (await recordsOf(log)).map((line) => Number(/@(\d+)/.exec(line)?.[1]));
    await log.close();
    const damage = (offset: number, inside: number): void => {
      const segment =
        filesIn(folder.at('home/log/0')).findLast((file) => Number(/(\d+)\.seg/.exec(file)?.[1]) <= offset) ??
        '';
      const bytes = readFileSync(segment);
      const at = offset - Number(/(\d+)\.seg/.exec(segment)?.[1]) + inside;
      bytes[at] = (bytes[at] ?? 0) ^ 1;
      writeFileSync(segment, bytes);
    };
    damage(offsets[10] ?? 0, 60); // its frame
    damage(offsets[20] ?? 0, 5); // its header
    log = await openLog(folder.at('home'));
    const found = await verifyLog(log, { contents: NO_CONTENTS });
    expect(found.problems.length).toBeGreaterThan(0);
    const report = await backUpTo(log, folder.at('b'));
    expect(report.problems.map(({ offset }) => offset)).toEqual(found.problems.map(({ offset }) => offset));
    await restoreTo(folder.at('b'), folder.at('r'));
    expect((await reportOf(folder.at('r'))).problems).toEqual(found.problems);
    // A record that is damaged after it was backed up stays good in the backup.
    await log.close();
    damage(offsets.at(-2) ?? 0, 60);
    log = await openLog(folder.at('home'));
    await writeNotes(log, ['hd'], 2, 'y');
    await backUpTo(log, folder.at('b'));
    await restoreTo(folder.at('b'), folder.at('r2'));
    expect((await reportOf(folder.at('r2'))).problems).toEqual(found.problems);
    await log.close();
  },
);

it(
  'a backup refuses another log, and a log that lost its end and grew again, and stays unchanged',
  { tags: ['decision-0058'] },
  async () => {
    using folder = temporaryFolder();
    const log = await backedUp(folder);
    const before = bytesIn(folder.at('b'));
    const other = await openLog(folder.at('other'), 2);
    await expect(backUpTo(other, folder.at('b'))).rejects.toMatchObject({ code: 'E_BACKUP_DIFFERS' });
    await other.close();
    await restoreTo(folder.at('b'), folder.at('twin'));
    const twin = await openLog(folder.at('twin'));
    await writeNotes(log, HISTORIES, 3, 'here');
    await writeNotes(twin, HISTORIES, 3, 'there');
    await backUpTo(log, folder.at('b'));
    const grown = bytesIn(folder.at('b'));
    expect(grown).not.toEqual(before);
    await expect(backUpTo(twin, folder.at('b'))).rejects.toMatchObject({ code: 'E_BACKUP_DIFFERS' });
    expect(bytesIn(folder.at('b'))).toEqual(grown);
    for (const each of [log, twin]) await each.close();
  },
);

it(
  'a log whose offsets are not bytes is restored frame by frame to an embedded one',
  { tags: ['decision-0058'] },
  async () => {
    using folder = temporaryFolder();
    const log = await openMemoryLog({ partitions: 3 });
    await writeNotes(log, HISTORIES, 10, 'x');
    await backUpTo(log, folder.at('b'), { inPlace: false });
    await writeNotes(log, HISTORIES, 10, 'y');
    expect((await backUpTo(log, folder.at('b'), { inPlace: false })).problems).toEqual([]);
    await restoreTo(folder.at('b'), folder.at('r'));
    const restored = await openLog(folder.at('r'));
    expect(restored.id).toBe(log.id);
    expect(await framesOf(restored)).toEqual(await framesOf(log));
    await restored.close();
  },
);

it(
  'backup leaves a directory with other files and a file that is no backup alone; restore never overwrites a home',
  { tags: ['decision-0058'] },
  async () => {
    using folder = temporaryFolder();
    const log = await backedUp(folder);
    writeFileSync(folder.at('my.tar'), 'mine');
    for (const target of ['home', 'my.tar'])
      await expect(backUpTo(log, folder.at(target))).rejects.toMatchObject({ code: 'E_BACKUP_NOT_FOUND' });
    expect(readFileSync(folder.at('my.tar'), 'utf8')).toBe('mine');
    await expect(restoreTo(folder.at('b'), folder.at('home'))).rejects.toMatchObject({
      code: 'E_HOME_NOT_EMPTY',
    });
    await expect(restoreTo(folder.at('nothing'), folder.at('r'))).rejects.toMatchObject({
      code: 'E_BACKUP_NOT_FOUND',
    });
    writeFileSync(folder.at('b/running'), `${process.pid}`);
    await expect(backUpTo(log, folder.at('b'))).rejects.toMatchObject({ code: 'E_BUSY' });
    writeFileSync(folder.at('b/running'), '999999999 1');
    await backUpTo(log, folder.at('b'));
    expect(existsSync(folder.at('b/running'))).toBe(false);
    await log.close();
  },
);

const canMount = process.getuid?.() === 0 && spawnSync('mount', ['--version']).status === 0;
it(
  'a backup that meets a full disk reports it, and the backup before it can be restored',
  { tags: ['decision-0058'] },
  async ({ skip }) => {
    if (!canMount) skip('only root may mount a file system of a known size');
    using folder = temporaryFolder();
    const log = await openLog(folder.at('home'), 1);
    const disk = folder.at('disk');
    mkdirSync(disk);
    expect(spawnSync('mount', ['-t', 'tmpfs', '-o', 'size=100k', 'tmpfs', disk]).status).toBe(0);
    try {
      await writeNotes(log, HISTORIES, 20, 'x');
      const first = await framesOf(log);
      await backUpTo(log, join(disk, 'b'));
      await writeNotes(log, HISTORIES, 300, 'y');
      for (const target of ['b', 'b.tar']) {
        const error: unknown = await backUpTo(log, join(disk, target)).catch((thrown: unknown) => thrown);
        expect(error).toMatchObject({ code: 'E_IO', detail: { errno: 'ENOSPC' } });
      }
      expect(readdirSync(disk)).toEqual(['b']);
      await restoreTo(join(disk, 'b'), folder.at('r'));
      const restored = await openLog(folder.at('r'));
      expect(await framesOf(restored)).toEqual(first);
      await restored.close();
      await expect(restoreTo(join(disk, 'b'), join(disk, 'r'))).resolves.toBeDefined();
    } finally {
      spawnSync('umount', ['-l', disk]);
      await log.close();
    }
  },
);
