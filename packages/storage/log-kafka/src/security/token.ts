import { fail } from '@stemma/errors';
import { spawn } from 'node:child_process';
import { z } from 'zod';

/** Gives the token with which a connection logs in. */
export type TokenSource = {
  /** @throws E_BROKERS_LOGIN if the command gives none; what it printed stands in no message */
  token(): Promise<string>;
  /** The brokers refused the last one: the next caller gets another. */
  forget(): void;
};

/** Milliseconds that the command has. */
const PATIENCE = 20_000;
/** Connections that open within so many milliseconds share a token. */
const SHARED = 30_000;
/** A token that ends sooner is not used any more. */
const LEFT = 15_000;
const MOST_BYTES = 64 * 1024;

const printed = z.object({ token: z.string().min(1), expires: z.union([z.string(), z.number()]).optional() });

/** Runs a command for tokens: again for whoever connects or logs in again later than half a minute after. */
export const openTokenSource = (command: string, now = Date.now): TokenSource => {
  let known: { readonly token: Promise<Token>; readonly at: number } | undefined;
  const isFresh = async ({ token, at }: NonNullable<typeof known>): Promise<boolean> => {
    const { expires } = await token;
    return now() - at < SHARED && (expires === undefined || expires - now() > LEFT);
  };
  return {
    token: async () => {
      if (known !== undefined && !(await isFresh(known).catch(() => false))) known = undefined;
      known ??= { token: runCommand(command).then(readToken), at: now() };
      return (await known.token).token;
    },
    forget: () => {
      known = undefined;
    },
  };
};

type Token = { readonly token: string; readonly expires: number | undefined };

/** Reads a token that stands alone, or `{token, expires}`: seconds or milliseconds since 1970, or a date. */
export const readToken = (output: string): Token => {
  const text = output.trim();
  if (!text.startsWith('{')) return checked(text, expiryIn(text));
  try {
    const { token, expires } = printed.parse(JSON.parse(text));
    return checked(token, expires === undefined ? expiryIn(token) : timeOf(expires));
  } catch {
    throw noToken('printed JSON that is not {"token": …, "expires": …}');
  }
};

const checked = (token: string, expires: number | undefined): Token => {
  if (!/^[\x21-\x7e]+$/.test(token)) throw noToken('printed no token');
  return { token, expires: expires === undefined || Number.isNaN(expires) ? undefined : expires };
};

const timeOf = (expires: string | number): number => {
  const number = Number(expires);
  if (Number.isNaN(number)) return Date.parse(String(expires));
  return number < 1e11 ? number * 1000 : number;
};

/** When a token says that it ends, if it is a JSON web token. */
const expiryIn = (token: string): number | undefined => {
  try {
    const claims = JSON.parse(Buffer.from(token.split('.')[1] ?? '', 'base64url').toString()) as unknown;
    return z.object({ exp: z.number() }).parse(claims).exp * 1000;
  } catch {
    return undefined;
  }
};

const runCommand = (command: string): Promise<string> =>
  new Promise((resolve, reject) => {
    const child = spawn(command, { shell: true, stdio: ['ignore', 'pipe', 'ignore'], timeout: PATIENCE });
    let output = '';
    child.stdout.on('data', (data: Buffer) => {
      output += data.toString();
      if (output.length > MOST_BYTES) child.kill();
    });
    child.on('error', () => reject(noToken('cannot be started')));
    child.on('close', (code, signal) =>
      code === 0 ? resolve(output) : reject(noToken(`ended with ${signal ?? code}`)),
    );
  });

const noToken = (why: string): Error =>
  fail(
    'E_BROKERS_LOGIN',
    `the command of STEMMA_KAFKA_TOKEN_COMMAND ${why}: run it by hand to see what it prints`,
  );
