import { spawnSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { openAsker, type Ended } from './matrix/asker.ts';
import type { Damage } from './matrix/damages.ts';
import { tryDamage, type Whole } from './matrix/try-damage.ts';
import { temporaryFolder, type Run } from './run-stemma.ts';

const folder = temporaryFolder();
afterAll(() => folder[Symbol.dispose]());
const home = join(folder.path, 'whole');
mkdirSync(join(home, 'log/0'), { recursive: true });
const SEGMENT = 'log/0/0000000000000000.seg';
for (const file of ['rows.mdb', SEGMENT]) writeFileSync(join(home, file), Buffer.alloc(256, 1));

const THREAD = ['thread', 'tram', '@c3'] as const;
const run = (code: number, stdout = '', stderr = ''): Run => ({ code, stdout, stderr });
const SERVED = run(0, 'user: Is it late?\n');

/** Whatever the program under test answers: by the command line, and whether its home is the damaged one. */
type Answers = (command: string, damaged: boolean) => Ended | undefined;

/** What a program says that does all that is asked of it. */
const sound: Answers = (command) => {
  if (command.startsWith('salvage')) return run(0, '{"history":"saved"}');
  return command.startsWith('thread') ? SERVED : run(0);
};

let copies = 0;
/** @param committed the frame with the snapshot that is asked for; the damage of the log takes frame 1 */
const judge = (
  answers: Answers,
  damage: Damage,
  touched = false,
  committed = 0,
): Promise<readonly string[]> => {
  const copy = join(folder.path, `copy-${copies++}`);
  const whole: Whole = {
    home,
    asked: home,
    answers: new Map(),
    ids: new Map([['tram', 'id-of-tram']]),
    snapshots: new Map([['tram', [{ label: '@c3', seq: committed }]]]),
    entries: touched
      ? [
          { from: 0, key: 'id-of-tram', seq: 0 },
          { from: 64, key: 'id-of-tram', seq: 1 },
        ]
      : [],
  };
  const asker = {
    ask: async (args: readonly string[]): Promise<Ended> => {
      const command = args.slice(0, args.indexOf('--home')).join(' ');
      return answers(command, args.includes(copy)) ?? sound(command, true) ?? run(0);
    },
    [Symbol.asyncDispose]: () => Promise.resolve(),
  };
  return tryDamage(asker, whole, copy, damage, () => 0.9, 1, [THREAD]);
};

const ROWS: Damage = { file: 'rows.mdb', how: 'flipped', at: 64 };
const LOG: Damage = { file: SEGMENT, how: 'flipped', at: 64 };

describe('the judge of damaged homes', () => {
  it('has nothing to say of a program that serves what was there', async () => {
    expect(await judge(sound, ROWS)).toEqual([]);
  });

  it.each<[string, string, Ended, string]>([
    ['serves another answer', 'thread', run(0, 'cser: Is it late?\n'), 'the answer is another'],
    ['serves another answer and warns', 'thread', run(0, 'x', 'rows rebuilt'), 'the answer is another'],
    ['exits 0 with nothing', 'thread', run(0), 'the answer is another'],
    ['does not end', 'thread', { died: 'no answer within 60000 ms' }, 'no answer within'],
    ['is killed', 'thread', { died: 'SIGBUS' }, 'SIGBUS'],
    ['fails without a code', 'thread', run(1, '', 'damaged'), 'it fails without a code'],
    ['fails with no reason', 'thread', run(1, '', 'no (E_IO)'), 'does not say of what'],
    ['fails inside', 'thread', run(1, '', 'internal error (E_INTERNAL)'), 'it died'],
    ['cannot replay', 'replay', run(1, '', 'damaged (E_IO)'), 'the advice does not work'],
    ['keeps other rows', 'replay --verify', run(5, '', 'rows differ'), 'rows differ'],
    ['is not mended', 'verify --rows', run(5, '', 'damaged (E_ROWS_DAMAGED)'), 'the advice did not help'],
  ])('refuses a program that %s', async (_what, command, ended, why) => {
    const wrong = await judge((asked, damaged) => {
      const isMeant = command === 'thread' ? asked.startsWith('thread') : asked === command;
      return damaged && isMeant ? ended : undefined;
    }, ROWS);
    expect(wrong.join('\n')).toContain(why);
  });

  it('refuses a verify that finds nothing in a damaged segment, and an answer that lacks something without a word', async () => {
    const wrong = await judge(
      (asked, damaged) => (damaged && asked.startsWith('thread') ? run(0, 'less') : undefined),
      LOG,
      true,
    );
    expect(wrong.join('\n')).toContain('it finds nothing');
    expect(wrong.join('\n')).toContain('the answer is another');
  });

  describe('of a history that lost a frame', () => {
    /** What a sound program says of it: that it is closed, then what is left of it. */
    const stopped: Answers = (command) => {
      return command === 'verify --rows' || command === 'doctor' ? run(5, 'damaged: 1') : undefined;
    };
    /** And if anybody's frame may be lost, until somebody acknowledges that. */
    const acknowledged = (): Answers => {
      let closed = true;
      return (command) => {
        if (command.startsWith('ack')) closed = false;
        if (command === 'histories' && closed) return run(0, '', 'closed: stemma ack 0@64');
        if (command === 'doctor') return run(5, 'lost: 0@64');
        if (command.startsWith('salvage')) return run(5, '', 'nothing to salvage (E_NOTHING_TO_SALVAGE)');
        return command === 'verify --rows' ? run(5, 'damaged: 1') : undefined;
      };
    };
    /** This answer to a question about the damaged home, once its advice was taken, in place of a sound one. */
    const except =
      (others: Answers, command: string, ended: Ended, most = 1): Answers =>
      (asked, damaged) => {
        if (damaged && asked === 'doctor') most--;
        return damaged && most <= 0 && asked.startsWith(command) ? ended : others(asked, damaged);
      };
    const NOT_FOUND = run(4, '', 'there is no @c3 (E_REF_NOT_FOUND)');

    it('has nothing to say where it stops, is salvaged, or goes on after the loss was acknowledged', async () => {
      expect(await judge(stopped, LOG, true)).toEqual([]);
      expect(await judge(acknowledged(), LOG, true)).toEqual([]);
      expect(await judge(except(acknowledged(), 'thread', NOT_FOUND), LOG, true, 1)).toEqual([]);
    });

    it.each<[string, Answers, string]>([
      [
        'serves another answer of before the loss',
        except(acknowledged(), 'thread', run(0, 'x')),
        'the answer is another',
      ],
      [
        'does not find what stands before the loss',
        except(acknowledged(), 'thread', NOT_FOUND),
        'a position before the loss is not served',
      ],
      [
        'refuses what stands before the loss',
        except(stopped, 'thread', run(5, '', 'damaged (E_HISTORY_DAMAGED)')),
        'a position before the loss is not served',
      ],
      [
        'salvages something else',
        except(stopped, 'thread saved', run(0, 'x')),
        'it begins with something else',
      ],
      ['salvages nothing', except(stopped, 'thread saved', NOT_FOUND), 'it begins with something else'],
      [
        'does not salvage a history that has stopped',
        except(stopped, 'salvage', run(5, '', 'nothing to salvage (E_NOTHING_TO_SALVAGE)')),
        'the advice does not work',
      ],
    ])('refuses a program that %s', async (_what, answers, why) => {
      expect((await judge(answers, LOG, true)).join('\n')).toContain(why);
    });
  });

  it(
    'a command that does not end is ended at the deadline, and the next one is answered',
    { tags: ['long'], timeout: 60_000 },
    async () => {
      const fifo = join(folder.path, 'nobody-writes.fifo');
      expect(spawnSync('mkfifo', [fifo]).status).toBe(0);
      await using asker = openAsker(2_000);
      const elsewhere = ['--home', join(folder.path, 'empty')];
      expect(await asker.ask(['import', fifo, ...elsewhere])).toEqual({ died: 'no answer within 2000 ms' });
      expect(await asker.ask(['--version'])).toMatchObject({ code: 0 });
    },
  );
});
