// Runs the program straight from its TypeScript; a Node that cannot strip types itself borrows tsx.
if (!process.features.typescript) {
  const { register } = await import('tsx/esm/api');
  register();
}
await import('./src/main.ts');
