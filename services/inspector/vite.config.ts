import { defineConfig } from 'vite';

export default defineConfig({
  oxc: { jsx: { runtime: 'automatic', importSource: 'preact' } },
  build: {
    target: 'es2023',
    // Everything is a file of its own: the gateway's Content-Security-Policy allows nothing inline.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    reportCompressedSize: false,
  },
  // `pnpm dev` shows the page with a gateway that runs beside it.
  server: {
    proxy: {
      '/api': {
        target: 'http://127.0.0.1:7836',
        changeOrigin: true,
        headers: { origin: 'http://127.0.0.1:7836' },
      },
    },
  },
});
