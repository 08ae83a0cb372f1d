import { fail } from '@stemma/errors';
import { anySignal } from '@stemma/machine';
import { createInterface } from 'node:readline/promises';
import type { Context } from './command.ts';

/** Asks on the terminal. @throws E_USAGE where there is none: then only --yes will do. */
export const confirmed = async ({ stdin, stderr, signal }: Context, question: string): Promise<boolean> => {
  if (stdin.isTTY !== true || stderr.isTTY !== true)
    throw fail('E_USAGE', 'there is no terminal to ask on: give --yes');
  const ask = createInterface({ input: stdin, output: stderr });
  // Ctrl-C and Ctrl-D close it, and then no answer comes.
  const closed = new AbortController();
  ask.on('close', () => closed.abort());
  try {
    const answer = await ask.question(`${question} Type yes: `, {
      signal: anySignal([signal, closed.signal]),
    });
    return answer.trim() === 'yes';
  } catch {
    return false;
  } finally {
    ask.close();
  }
};
