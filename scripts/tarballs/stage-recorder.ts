import { cpSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { rollup, type Plugin as RollupPlugin } from 'rollup';
import { dts } from 'rollup-plugin-dts';
import { build } from 'vite';
import { startBuiltFiles } from '../../services/cli/start-built-files.ts';
import { folderOf } from '../layers.ts';
import { installed, manifestOf, root } from './manifest.ts';

const FOLDER = join(root, 'packages/agents/recorder');

/** The last three are threads of a home in this process: one appends to its log, the others fold. */
const ENTRIES = {
  index: 'packages/agents/recorder/src/index.ts',
  rerun: 'packages/agents/recorder/src/rerun.ts',
  'home-backend': 'packages/agents/recorder/src/home-backend.ts',
  'no-home': 'packages/agents/recorder/src/no-home.ts',
  'redacting-backend': 'packages/agents/recorder/src/redacting-backend.ts',
  'no-redaction': 'packages/agents/recorder/src/no-redaction.ts',
  'node-platform': 'packages/agents/recorder/src/calls/node-platform.ts',
  'page-platform': 'packages/agents/recorder/src/calls/page-platform.ts',
  'append-worker': 'packages/storage/log-embedded/src/append-worker.ts',
  'fold-worker': 'packages/engine/projector-threads/src/workers/fold-worker.ts',
  'run-thread': 'packages/engine/projector-threads/src/run-thread/run-thread.ts',
} as const;

/** What a package's types and programs import and do not contain. */
const LIBRARIES = ['lmdb', 'zod'] as const;

/** A browser's bundler chooses the second file of each. */
const IMPORTS = {
  '#call-platform': { browser: './dist/page-platform.js', default: './dist/node-platform.js' },
  '#home-backend': { browser: './dist/no-home.js', default: './dist/home-backend.js' },
  '#redacting-backend': { browser: './dist/no-redaction.js', default: './dist/redacting-backend.js' },
} as const;

/** Builds the package `@stemma/recorder` into a folder: JavaScript modules, and a file of types for each entry. */
export const stageRecorder = async (folder: string): Promise<void> => {
  mkdirSync(folder, { recursive: true });
  await buildModules(join(folder, 'dist'));
  for (const name of ['index', 'rerun']) await buildTypes(name, join(folder, 'dist'));
  cpSync(join(root, 'LICENSE'), join(folder, 'LICENSE'));
  cpSync(join(root, 'scripts/tarballs/recorder-readme.md'), join(folder, 'README.md'));
  writeFileSync(
    join(folder, 'package.json'),
    manifestOf('@stemma/recorder', {
      description: "Records an agent's calls to models, on a Stemma server or in a home of its own process.",
      sideEffects: false,
      main: './dist/index.js',
      types: './dist/index.d.ts',
      exports: {
        '.': { types: './dist/index.d.ts', default: './dist/index.js' },
        './rerun': { types: './dist/rerun.d.ts', default: './dist/rerun.js' },
        './package.json': './package.json',
      },
      imports: IMPORTS,
      dependencies: { ...installed('packages/formats/api', ['zod']), ...installed('services/cli', ['lmdb']) },
    }),
  );
};

const buildModules = async (outDir: string): Promise<void> => {
  await build({
    root: FOLDER,
    configFile: false,
    logLevel: 'warn',
    plugins: [startBuiltFiles],
    ssr: { noExternal: true },
    build: {
      ssr: true,
      outDir,
      emptyOutDir: true,
      target: 'node22',
      reportCompressedSize: false,
      rolldownOptions: {
        input: Object.fromEntries(Object.entries(ENTRIES).map(([name, file]) => [name, join(root, file)])),
        external: [...LIBRARIES, ...Object.keys(IMPORTS)],
        output: { entryFileNames: '[name].js', chunkFileNames: '[name]-[hash].js' },
      },
    },
  });
};

/** The workspace's own packages by their sources, so that their types stand in the one file. */
const ownPackages: RollupPlugin = {
  name: 'own-packages',
  resolveId: (id) =>
    id.startsWith('@stemma/') ? join(root, folderOf(id.slice('@stemma/'.length)), 'src/index.ts') : null,
};

/** The types of an entry, in one file. */
const buildTypes = async (name: string, folder: string): Promise<void> => {
  const bundle = await rollup({
    input: join(FOLDER, `src/${name}.ts`),
    plugins: [ownPackages, dts({ tsconfig: join(root, 'tsconfig.json') })],
    external: [/^node:/, ...LIBRARIES],
    onwarn: ({ message }) => {
      throw new Error(`the types of the recorder: ${message}`);
    },
  });
  await bundle.write({ file: join(folder, `${name}.d.ts`), format: 'es' });
  await bundle.close();
};
