import { fail } from '@stemma/errors';
import { readFile } from 'node:fs/promises';
import { extname, join } from 'node:path';
import type { HttpAnswer } from './front/answer.ts';

const MIMES: Readonly<Record<string, string>> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.svg': 'image/svg+xml',
  '.map': 'application/json',
};

const NOT_BUILT = `<!doctype html>
<html lang="en"><meta charset="utf-8"><title>Stemma</title>
<h1>The page is not built</h1>
<p>The server runs, and its API answers (<a href="/openapi.json">/openapi.json</a>); the inspector's files are missing.
<p>Build them with <code>pnpm --filter @stemma/inspector build</code>, then load this page again.
</html>
`;

/** The inspector's page, or, while it is not built, a page that says so (503). */
export const readPage = async (directory: string): Promise<HttpAnswer> => {
  const html = await read(join(directory, 'index.html'));
  const mime = 'text/html; charset=utf-8';
  if (html === undefined) return { status: 503, headers: { 'content-type': mime }, body: NOT_BUILT };
  return { status: 200, headers: { 'content-type': mime, 'cache-control': 'no-cache' }, body: html };
};

/** A file of the inspector's page. Its name carries its hash, so a browser may keep it. @throws E_NOT_FOUND */
export const readAsset = async (directory: string, name: string): Promise<HttpAnswer> => {
  const mime = MIMES[extname(name)];
  const bytes =
    mime === undefined || !/^[\w-]+(\.[\w-]+)+$/.test(name)
      ? undefined
      : await read(join(directory, 'assets', name));
  if (bytes === undefined || mime === undefined)
    throw fail('E_NOT_FOUND', `there is no file ${name.slice(0, 100)}`);
  const headers = { 'content-type': mime, 'cache-control': 'public, max-age=31536000, immutable' };
  return { status: 200, headers, body: bytes };
};

const read = async (path: string): Promise<Uint8Array<ArrayBuffer> | undefined> => {
  try {
    return new Uint8Array(await readFile(path));
  } catch (error) {
    if (error instanceof Error && 'code' in error && (error.code === 'ENOENT' || error.code === 'ENOTDIR'))
      return undefined;
    throw error;
  }
};
