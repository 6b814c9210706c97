// Builds the page, and the viewer alone.
import { build } from 'vite';

const [outDir] = process.argv.slice(2);
for (const mode of ['page', 'viewer']) {
  await build({ mode, logLevel: 'error', build: { outDir: `${outDir}/${mode}`, emptyOutDir: true } });
}
