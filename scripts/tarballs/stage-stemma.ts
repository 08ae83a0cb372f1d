import { cpSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { installed, manifestOf, root } from './manifest.ts';

/** What the built programs find relative to themselves, and where they stand: as deep as in the workspace. */
const FILES = [
  'services/cli/bin/stemma.mjs',
  'services/cli/dist',
  'services/inspector/dist',
  'samples',
  'LICENSE',
] as const;

/** Puts the files of the package `stemma` (command line, gateway, page) into a folder. The programs must be built. */
export const stageStemma = (folder: string): void => {
  mkdirSync(folder, { recursive: true });
  for (const file of FILES) cpSync(join(root, file), join(folder, file), { recursive: true });
  cpSync(join(root, 'scripts/tarballs/stemma-readme.md'), join(folder, 'README.md'));
  writeFileSync(
    join(folder, 'package.json'),
    manifestOf('stemma', {
      description: 'The flight recorder and time machine for what language models are shown.',
      keywords: ['llm', 'agents', 'tracing', 'context', 'observability'],
      bin: { stemma: './services/cli/bin/stemma.mjs' },
      dependencies: installed('services/cli', ['lmdb']),
    }),
  );
};
