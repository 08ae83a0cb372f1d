import { errorToJson, fail } from '@stemma/errors';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createContext, runInContext } from 'node:vm';
import { build } from 'vite';
import { expect, test } from 'vitest';

const ENTRY = `
import { openRecorder } from '@stemma/recorder';
globalThis.open = (options) => openRecorder({ history: 'page', recorder: 'page', ...options });
`;

/** Runs a script in a page, which has nothing of Node, and opens a recorder there. */
const openInPage = async (
  code: string,
  fetch: (url: string, init: RequestInit) => Promise<Response>,
): Promise<unknown> => {
  const { setTimeout, performance, crypto, URL, TextEncoder, TextDecoder, AbortSignal } = globalThis;
  const page = { setTimeout, performance, crypto, URL, TextEncoder, TextDecoder, AbortSignal, fetch };
  runInContext(code, createContext(page));
  return (page as unknown as { readonly open: (options: object) => Promise<unknown> }).open({
    url: 'http://a',
  });
};

test('the recorder for a server makes a small bundle for a page, which sends again there what nobody answered', async () => {
  // Below this package, so that its name is found from there.
  const folder = mkdtempSync(join(import.meta.dirname, 'bundle-'));
  try {
    writeFileSync(join(folder, 'entry.ts'), ENTRY.replace('@stemma/recorder', '../../src/index.ts'));
    const built = await build({
      root: folder,
      configFile: false,
      logLevel: 'silent',
      build: {
        write: false,
        target: 'esnext',
        lib: { entry: 'entry.ts', formats: ['iife'], name: 'page', fileName: 'page' },
      },
    });
    const output = [built].flat().flatMap((each) => ('output' in each ? each.output : []));
    // What a browser lacks stands there as an empty module.
    const modules = output.flatMap((each) => (each.type === 'chunk' ? each.moduleIds : []));
    expect(modules.filter((id) => id.includes('browser-external'))).toEqual([]);
    expect(output.map(({ type }) => type)).not.toContain('asset');
    const code = output.map((each) => (each.type === 'chunk' ? each.code : '')).join('\n');
    expect(code.match(/\bfrom\s*["']node:|require\(["']/g)).toBeNull();
    expect(code.length).toBeLessThan(500_000);
    const asked: string[] = [];
    const answers = ['E_HISTORY_NOT_FOUND', undefined, 'E_NAME_INVALID'] as const;
    const opened = openInPage(code, async (url, { method }) => {
      asked.push(`${method} ${new URL(url).pathname}`);
      const refused = answers[asked.length - 1];
      if (refused === undefined) throw new TypeError('fetch failed');
      return Response.json(errorToJson(fail(refused, 'no')), { status: 404 });
    });
    await expect(opened).rejects.toMatchObject({ code: 'E_NAME_INVALID' });
    expect(asked).toEqual([
      'GET /api/histories/page/snapshots',
      'POST /api/histories',
      'POST /api/histories',
    ]);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
});
