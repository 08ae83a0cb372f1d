/**
 * Makes what `npm install` takes of the packages `stemma` and `@stemma/recorder`: `pnpm tarballs` puts their tarballs into
 * `dist/tarballs` and prints the paths. The programs must be built (`pnpm build`).
 */
import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { root } from './manifest.ts';
import { stageRecorder } from './stage-recorder.ts';
import { stageStemma } from './stage-stemma.ts';

const out = process.argv[2] ?? join(root, 'dist/tarballs');
const staged = join(out, 'staged');

for (const built of ['services/cli/dist/stemma.js', 'services/inspector/dist/index.html'])
  if (!existsSync(join(root, built))) throw new Error(`${built} is missing: run \`pnpm build\` first`);
rmSync(out, { recursive: true, force: true });
mkdirSync(staged, { recursive: true });
stageStemma(join(staged, 'stemma'));
await stageRecorder(join(staged, 'recorder'));
for (const name of ['stemma', 'recorder']) {
  const [packed] = JSON.parse(
    execFileSync('npm', ['pack', '--json', '--pack-destination', out], {
      cwd: join(staged, name),
      encoding: 'utf8',
    }),
  ) as readonly [{ readonly filename: string }];
  console.log(join(out, packed.filename));
}
rmSync(staged, { recursive: true });
