import { fileURLToPath } from 'node:url';
import { defineConfig, type Plugin } from 'vite';
import { authorsSources } from './sources-plugin.ts';

/** A page on a disk cannot load modules or other origins, so its script and style are plain. */
const plainScript: Plugin = {
  name: 'plain-script',
  enforce: 'post',
  transformIndexHtml: (html) =>
    html.replace('<script type="module" crossorigin', '<script defer').replace(' crossorigin href', ' href'),
};

const path = (file: string) => fileURLToPath(new URL(file, import.meta.url));

export default defineConfig(({ mode }) => ({
  base: './',
  plugins: [authorsSources(mode === 'page'), plainScript],
  oxc: { jsx: { importSource: 'preact' } },
  resolve: { tsconfigPaths: true },
  build:
    mode === 'viewer'
      ? {
          lib: {
            entry: path('src/viewer/standalone.tsx'),
            formats: ['iife'],
            name: 'mrtrViewer',
            fileName: () => 'viewer.js',
            cssFileName: 'viewer',
          },
        }
      : {
          modulePreload: false,
          cssCodeSplit: false,
          assetsInlineLimit: 0,
          rollupOptions: {
            output: { format: 'iife', entryFileNames: 'lab.js', assetFileNames: 'lab[extname]' },
          },
        },
}));
