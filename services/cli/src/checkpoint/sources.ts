import { fail } from '@stemma/errors';
import { openLogSource, type LogSource } from '@stemma/home';
import { checkpointKeyPath, publicKeyFrom, readKeyFile } from '@stemma/operations';
import type { NoteKey } from '@stemma/merkle';
import { rename, writeFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import { addressesOf, type Context } from '../command.ts';
import { text } from '../options.ts';

type Values = Readonly<Record<string, unknown>>;

/** Checkpoints and proofs are texts of at most so many bytes. */
export const MAX_NOTES = 16 * 1024 * 1024;

/** Does something with the log of the home, and closes it. */
export const withLog = async <T>(
  { directory, env }: Pick<Context, 'directory' | 'env'>,
  action: (source: LogSource) => Promise<T>,
): Promise<T> => {
  const source = await openLogSource({ directory, ...addressesOf(env) });
  try {
    return await action(source);
  } finally {
    await source.close();
  }
};

/** The file of the key that signs. */
export const keyPath = (directory: string, options: Values): string =>
  resolve(text(options, 'key') ?? checkpointKeyPath(directory));

/** The key that signatures are checked with: the one given, else that of the home; null, and a word, without one. */
export const keyForChecking = async (
  { directory, output }: Pick<Context, 'directory' | 'output'>,
  options: Values,
): Promise<NoteKey | null> => {
  const given = text(options, 'publicKey');
  if (given !== undefined) return publicKeyFrom(given);
  const own = await readKeyFile(keyPath(directory, options));
  if (own === undefined) output.say('the signature is not checked: give the key with --public-key');
  return own ?? null;
};

/** Writes a result to a file, whole or not at all, or to stdout. */
export const writeOut = async (
  { output }: Pick<Context, 'output'>,
  options: Values,
  value: unknown,
  printed: string,
): Promise<void> => {
  const out = text(options, 'out');
  if (out === undefined) {
    await output.result(value, () => printed);
    return;
  }
  const path = resolve(out);
  await writeFile(`${path}.tmp`, printed, { mode: 0o600, flush: true });
  await rename(`${path}.tmp`, path);
  if (output.json) await output.result(value, () => '');
};

/** `H@12`: a history, by id or name, and a frame of it. @throws E_USAGE */
export const frameOf = (given: string): { readonly name: string; readonly seq: number } => {
  const [, name = '', seq = ''] = /^(.+)@s?(\d{1,15})$/s.exec(given) ?? [];
  if (name === '')
    throw fail('E_USAGE', `--frame must be HISTORY@SEQ, such as mine@12, not ${JSON.stringify(given)}`);
  return { name, seq: Number(seq) };
};
