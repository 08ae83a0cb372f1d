import { utimesSync } from 'node:fs';
import { join } from 'node:path';
import { defineConfig, type Plugin } from 'vite';
import { startBuiltFiles } from './start-built-files.ts';

const root = join(import.meta.dirname, '../..');

/** `./stemma` runs the built program unless a source is newer, and a source may change while this builds. */
const dateBack = (): Plugin => {
  let begun = new Date();
  return {
    name: 'date-back',
    buildStart: () => {
      begun = new Date();
    },
    closeBundle: () => {
      utimesSync(join(import.meta.dirname, 'dist/stemma.js'), begun, begun);
    },
  };
};

/*
 * The programs in a few files, which start in half the time of a thousand sources (decision 0063). A built file is as
 * deep in the tree as the source that it stands for, so that both find what lies beside the packages.
 */
export default defineConfig({
  plugins: [startBuiltFiles, dateBack()],
  ssr: { noExternal: true },
  build: {
    ssr: true,
    target: 'node22',
    reportCompressedSize: false,
    rolldownOptions: {
      input: {
        stemma: join(root, 'services/cli/src/main.ts'),
        gateway: join(root, 'services/gateway/src/main.ts'),
        projector: join(root, 'services/projector/src/main.ts'),
        relay: join(root, 'services/relay/src/main.ts'),
        runner: join(root, 'services/runner/src/main.ts'),
        'append-worker': join(root, 'packages/storage/log-embedded/src/append-worker.ts'),
        'fold-worker': join(root, 'packages/engine/projector-threads/src/workers/fold-worker.ts'),
        'run-thread': join(root, 'packages/engine/projector-threads/src/run-thread/run-thread.ts'),
        'home-thread': join(root, 'services/gateway/src/apart/home-thread.ts'),
        'analysis-thread': join(root, 'services/cli/src/analyse/analysis-thread.ts'),
        'workspace-thread': join(root, 'services/cli/src/workspace/workspace-thread.ts'),
        'question-process': join(root, 'services/gateway/src/questions-apart/question-process.ts'),
      },
      // It loads a binary that lies beside it.
      external: ['lmdb'],
      output: { entryFileNames: '[name].js', chunkFileNames: '[name]-[hash].js' },
    },
  },
});
