// Runs one server process straight from its TypeScript, with tsx if this Node cannot strip types itself.
if (!process.features.typescript) {
  const { register } = await import('tsx/esm/api');
  register();
}
await import('./src/instance.ts');
