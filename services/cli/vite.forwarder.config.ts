import { join } from 'node:path';
import { defineConfig } from 'vite';
import { startBuiltFiles } from './start-built-files.ts';

/*
 * The forwarder apart, with nothing in it that it does not need: one starts beside every recorded command. Built with the other
 * programs it would load what they share, twice as much.
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
      output: { entryFileNames: '[name].js', chunkFileNames: 'forwarder-[name]-[hash].js' },
    },
  },
});
