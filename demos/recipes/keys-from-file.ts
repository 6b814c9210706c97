/** Keys from a secret manager that keeps them in a file, as Kubernetes and Vault's agent do: one key in each line. */
import { readFile } from 'node:fs/promises';
import { type RequestStatePolicy, requestStatePolicy } from '@mrtr/core';

/** Reads the keys now, and again every five minutes: they are rolled without a restart. */
export const policyWithKeysOf = (file: string, keysSeconds = 300): Promise<RequestStatePolicy> =>
  requestStatePolicy({
    keys: async () => (await readFile(file, 'utf8')).split('\n').filter((line) => line !== ''),
    keysSeconds,
  });
