/** Heap in use after a full collection. Needs `--expose-gc`. */
export async function heapUsed(): Promise<number> {
  for (let pass = 0; pass < 4; pass++) {
    await new Promise((resolve) => setImmediate(resolve));
    (globalThis as { readonly gc?: () => void }).gc?.();
  }
  return process.memoryUsage().heapUsed;
}
