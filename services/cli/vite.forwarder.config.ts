import { join } from 'node:path';
import { defineConfig } from 'vite';
import { startBuiltFiles } from './start-built-files.ts';

/*
 * The forwarder in one file, with nothing in it that it does not need: it starts beside every recorded command, and takes a third
 * of the time that it takes with the parts that the other programs share.
 */
export default defineConfig({
  plugins: [startBuiltFiles],
  ssr: { noExternal: true },
  build: {
    ssr: true,
    target: 'node22',
    emptyOutDir: false,
    reportCompressedSize: false,
    rolldownOptions: {
      input: {
        'forwarder-process': join(import.meta.dirname, '../gateway/src/forwarder/forwarder-process.ts'),
      },
      output: { entryFileNames: '[name].js', codeSplitting: false },
    },
  },
});
