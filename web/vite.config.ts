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
    rolldownOptions: {
      output: {
        // One file for each set of screens that share a module would be about 90 requests for a list of records. What the first
        // page needs, and what most screens or most parts of the desk share, are files of their own.
        codeSplitting: {
          groups: [
            { name: 'base', tags: ['$initial'] },
            { name: 'common', minShareCount: 40 },
            { name: 'icons', test: /icons-react/, minShareCount: 2 },
            { name: 'desk', test: /web[\\/]src[\\/]desk/, minShareCount: 5 },
          ],
        },
      },
    },
  },
  server: {
    // `npx vite web` beside a running service: sources reload, calls go through.
    proxy: { '/api': 'http://127.0.0.1:8080' },
  },
});
