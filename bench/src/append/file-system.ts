import { closeSync, fdatasyncSync, fsyncSync, mkdirSync, openSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { measureAppends, type Appending, type AppendInput } from './figures.ts';
import { records } from './records.ts';

const SIZE = 64 * 1024 * 1024;

/**
 * The limit: the same bytes written to a file whose blocks are there already, and `fdatasync` after each group. There is
 * no lock, no index, no hash and nothing to find them by; nothing that is durable on this file system can be faster.
 */
export const appendToFile = async (input: AppendInput): Promise<Appending> => {
  mkdirSync(input.directory, { recursive: true });
  const bytes = Buffer.concat(records('bench', input.group).map((record) => record.bytes));
  const file = openSync(join(input.directory, 'preallocated'), 'w');
  const zeros = Buffer.alloc(1024 * 1024);
  for (let written = 0; written < SIZE; written += zeros.length)
    writeSync(file, zeros, 0, zeros.length, written);
  fsyncSync(file);
  let end = 0;
  const measured = await measureAppends(input, async () => {
    if (end + bytes.length > SIZE) end = 0;
    writeSync(file, bytes, 0, bytes.length, end);
    fdatasyncSync(file);
    end += bytes.length;
  });
  closeSync(file);
  return measured;
};
