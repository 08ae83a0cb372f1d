import { fail } from '@stemma/errors';
import type { Context } from 'hono';
import { readFile } from 'node:fs/promises';
import { extname, join } from 'node:path';

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
export const servePage = async (c: Context, directory: string): Promise<Response> => {
  const html = await read(join(directory, 'index.html'));
  if (html === undefined) return c.html(NOT_BUILT, 503);
  return c.body(html, 200, { 'content-type': 'text/html; charset=utf-8', 'cache-control': 'no-cache' });
};

/** A file of the inspector's page. Its name carries its hash, so a browser may keep it. */
export const serveAsset = async (c: Context, directory: string, name: string): Promise<Response> => {
  const mime = MIMES[extname(name)];
  const bytes =
    mime === undefined || !/^[\w-]+(\.[\w-]+)+$/.test(name)
      ? undefined
      : await read(join(directory, 'assets', name));
  if (bytes === undefined || mime === undefined)
    throw fail('E_NOT_FOUND', `there is no file ${name.slice(0, 100)}`);
  return c.body(bytes, 200, { 'content-type': mime, 'cache-control': 'public, max-age=31536000, immutable' });
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
