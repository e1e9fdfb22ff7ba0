/** How the web console is built: hashed files, split by screen, nothing inline, so that a strict Content-Security-Policy holds. */
import react from '@vitejs/plugin-react';
import { defineConfig } from 'vite';

export default defineConfig({
  root: import.meta.dirname,
  plugins: [react()],
  build: {
    outDir: 'dist',
    emptyOutDir: true,
    target: 'es2023',
    // A file inlined as data would need a wider policy, and saves nothing.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    chunkSizeWarningLimit: 700,
  },
  server: {
    // `npx vite web` beside a running service: sources reload, calls go through.
    proxy: { '/api': 'http://127.0.0.1:8080' },
  },
});
