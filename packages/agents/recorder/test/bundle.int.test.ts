import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { build } from 'vite';
import { expect, test } from 'vitest';

const ENTRY = `
import { openRecorder } from '@stemma/recorder';
globalThis.open = (options) => openRecorder({ history: 'page', recorder: 'page', ...options });
`;

test('the recorder for a server makes a small bundle for a page, which uses nothing that a browser lacks', async () => {
  // Below this package, so that its name is found from there.
  const folder = mkdtempSync(join(import.meta.dirname, 'bundle-'));
  try {
    writeFileSync(join(folder, 'entry.ts'), ENTRY.replace('@stemma/recorder', '../../src/index.ts'));
    const warnings: string[] = [];
    const built = await build({
      root: folder,
      configFile: false,
      logLevel: 'silent',
      build: {
        write: false,
        target: 'esnext',
        lib: { entry: 'entry.ts', formats: ['es'], fileName: 'page' },
        rolldownOptions: { onLog: (_level, { message }) => void warnings.push(message) },
      },
    });
    const output = [built].flat().flatMap((each) => ('output' in each ? each.output : []));
    expect(warnings.filter((message) => message.includes('externalized'))).toEqual([]);
    expect(output.map(({ type }) => type)).not.toContain('asset');
    const code = output.map((each) => (each.type === 'chunk' ? each.code : '')).join('\n');
    expect(code.match(/\bfrom\s*["']node:|require\(["']|__vite-browser-external/g)).toBeNull();
    expect(code.length).toBeLessThan(500_000);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
});
