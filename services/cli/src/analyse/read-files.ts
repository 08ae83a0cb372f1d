import { fail } from '@stemma/errors';
import type { Context } from '../command.ts';
import { openInput } from '../input.ts';
import { required } from '../options.ts';
import type { FileBytes } from './questions.ts';

const GIB = 1024 ** 3;

/** The bytes of a file, `-` being stdin. @throws E_INPUT_TOO_LARGE above 1 GiB, E_IO */
export const readFileBytes = async (
  context: Context,
  given: string | readonly string[] | undefined,
): Promise<FileBytes> => {
  const path = required(given);
  const name = path === '-' ? 'stdin' : path;
  const { read, size: known } = openInput(path, { stdin: context.stdin, signal: context.signal });
  const tooLarge = (): Error => fail('E_INPUT_TOO_LARGE', `${name} has more than 1 GiB`, { file: name });
  if (known !== null && known > GIB) throw tooLarge();
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of read()) {
    size += chunk.length;
    if (size > GIB) throw tooLarge();
    chunks.push(chunk);
  }
  // In memory of its own, which moves to the thread.
  const bytes = new Uint8Array(size);
  let at = 0;
  for (const chunk of chunks) {
    bytes.set(chunk, at);
    at += chunk.length;
  }
  return { name, bytes };
};
