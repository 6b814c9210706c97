/** Prints how long it takes to import one module, in milliseconds. Imports nothing else, also no types. */
const [name = ''] = process.argv.slice(2);
const started = performance.now();
await import(name);
process.stdout.write(JSON.stringify(performance.now() - started));
