import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeSync, openSync, closeSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, it } from 'vitest';

const MIB = 1024 * 1024;
const folder = mkdtempSync(join(tmpdir(), 'stemma-import-memory-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** Prints the most memory that the process had since it began. What `resourceUsage` says includes that of the process that started it. */
const PRINTS_PEAK = `data:text/javascript,${encodeURIComponent(
  `import { readFileSync } from 'node:fs';
   import { isMainThread } from 'node:worker_threads';
   if (isMainThread) process.on('exit', () => console.error(/VmHWM:\\s+\\d+/.exec(readFileSync('/proc/self/status', 'utf8'))[0]));`,
)}`;

/** A list of conversations in one document, of so many bytes and more. */
const writeConversations = (file: string, bytes: number): number => {
  const fd = openSync(file, 'w');
  let written = 0;
  let count = 0;
  for (; written < bytes; count++) {
    const messages = Array.from({ length: 20 }, (_, n) => ({
      role: n % 2 === 0 ? 'user' : 'assistant',
      content: `${count} ${n} ${'The quick brown fox jumps over the lazy dog. '.repeat(360)}`,
    }));
    written += writeSync(
      fd,
      `${count === 0 ? '[' : ',\n'}${JSON.stringify({ name: `c${count}`, messages })}`,
    );
  }
  writeSync(fd, ']\n');
  closeSync(fd);
  return count;
};

it('an import of 40 MB in one document stays below 400 MiB of memory', async ({ skip }) => {
  if (process.platform !== 'linux') return skip('no file of the system has the peak of a process');
  const file = join(folder, 'export.json');
  const count = writeConversations(file, 40 * MIB);
  const main = new URL('../src/main.ts', import.meta.url).pathname;
  const args = ['--home', join(folder, 'home'), '--json', 'import', file, '--history', 'c-{n}'];
  const child = spawn(process.execPath, ['--import', PRINTS_PEAK, main, ...args]);
  let [out, err] = ['', ''];
  child.stdout.setEncoding('utf8').on('data', (text: string) => (out += text));
  child.stderr.setEncoding('utf8').on('data', (text: string) => (err += text));
  await once(child, 'close');
  expect({
    code: child.exitCode,
    imported: (JSON.parse(out) as { imported: { conversations: number }[] }).imported[0]?.conversations,
  }).toEqual({
    code: 0,
    imported: count,
  });
  const peak = Number(/VmHWM:\s+(\d+)/.exec(err)?.[1]) / 1024;
  expect(peak).toBeGreaterThan(50);
  expect(peak).toBeLessThan(400);
}, 120_000);
