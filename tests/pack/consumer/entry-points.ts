/** Imports and requires each entry point in the arguments: both formats must have the same names. */
import assert from 'node:assert/strict';
import { createRequire } from 'node:module';

const require = createRequire(import.meta.url);
// Names that an import of CommonJS adds.
const ADDED = ['__esModule', 'default', 'module.exports'];

async function main(): Promise<void> {
  const entries = process.argv.slice(2);
  for (const entry of entries) {
    const names = (module: object) =>
      Object.keys(module)
        .filter((name) => !ADDED.includes(name))
        .sort();
    const imported = names(await import(entry));
    assert.notEqual(imported.length, 0, entry);
    assert.deepEqual(names(require(entry)), imported, entry);
  }
  console.log(`${entries.length} entry points.`);
}

void main();
