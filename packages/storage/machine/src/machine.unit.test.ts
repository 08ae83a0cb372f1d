import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { bootTime } from './boot-id.ts';
import { beganAt, bootId, isAlive, isLoopback, syncFile } from './index.ts';

describe('the machine', () => {
  it('gives the same boot id each time', () => {
    expect(bootId()).not.toBe('');
    expect(bootId()).toBe(bootId());
  });

  it('distinguishes two boots half a minute apart where the system gives no boot id', () => {
    const now = 1_800_000_000_000;
    expect(bootTime(now + 3_000, 103)).toBe(bootTime(now, 100));
    expect(bootTime(now + 30_000, 100)).not.toBe(bootTime(now, 100));
  });

  it('says of a process whether it lives, and does not mistake a later process with the same id for it', async () => {
    const child = spawn(process.execPath, ['-e', 'setInterval(() => undefined, 1000)']);
    const pid = child.pid as number;
    expect(isAlive(pid)).toBe(true);
    const began = beganAt(pid);
    if (began !== undefined) expect([isAlive(pid, began), isAlive(pid, `${began}0`)]).toEqual([true, false]);
    const ended = once(child, 'exit');
    child.kill('SIGKILL');
    await ended;
    expect(isAlive(pid)).toBe(false);
  });

  it.each([
    ['localhost', true],
    ['127.0.0.1', true],
    ['127.1.2.3', true],
    ['::1', true],
    ['[::1]', true],
    ['0.0.0.0', false],
    ['10.0.0.1', false],
    ['127.0.0.1.example.org', false],
    ['localhost.example.org', false],
  ])('reports of %s whether it is an address of this machine only: %s', (host, local) => {
    expect(isLoopback(host)).toBe(local);
  });

  it('syncs an existing file and throws for a missing one', () => {
    const file = join(mkdtempSync(join(tmpdir(), 'stemma-machine-')), 'file');
    writeFileSync(file, 'text');
    syncFile(file);
    expect(() => syncFile(`${file}-missing`)).toThrow('ENOENT');
  });
});
