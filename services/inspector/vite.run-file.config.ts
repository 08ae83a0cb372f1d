import { defineConfig } from 'vite';

/** The page of an exported run: one script and one style sheet, which the command line writes into the file. */
export default defineConfig({
  oxc: { jsx: { runtime: 'automatic', importSource: 'preact' } },
  build: {
    target: 'es2023',
    outDir: 'dist/run-file',
    emptyOutDir: true,
    // A file asks for nothing: pictures of the style sheet are in it.
    assetsInlineLimit: Number.MAX_SAFE_INTEGER,
    cssCodeSplit: false,
    modulePreload: false,
    reportCompressedSize: false,
    rolldownOptions: {
      input: 'src/run-file/main.tsx',
      output: { entryFileNames: 'run.js', assetFileNames: 'run.[ext]', codeSplitting: false },
    },
  },
});
