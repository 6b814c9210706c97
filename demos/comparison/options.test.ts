/** Each option's modules have the types that `loadOption` casts them to. `tsc` checks that. */
import { expect, test } from 'vitest';
import type { Claims } from './claims.ts';
import { OPTIONS, type OptionModule } from './options.ts';

const SERVERS: Readonly<Record<string, () => Promise<OptionModule>>> = {
  'option-a-shim': () => import('../option-a-shim/server.ts'),
  'option-b-await': () => import('../option-b-await/server.ts'),
  'option-c-branch': () => import('../option-c-branch/server.ts'),
  'option-d-by-era': () => import('../option-d-by-era/server.ts'),
  'option-e-bare': () => import('../option-e-bare/server.ts'),
  'option-e-guard-first': () => import('../option-e-guard-first/server.ts'),
  'option-e-naive': () => import('../option-e-naive/server.ts'),
  'option-f-once': () => import('../option-f-once/server.ts'),
  'option-g-tool-builder': () => import('../option-g-tool-builder/server.ts'),
  'option-h-linear': () => import('../option-h-linear/server.ts'),
  'option-h-postgres': () => import('../option-h-postgres/server.ts'),
  'option-i-resolve': () => import('../option-i-resolve/server.ts'),
  'option-j-journal': () => import('../option-j-journal/server.ts'),
};

const CLAIMS: Readonly<Record<string, () => Promise<{ readonly claims: Claims }>>> = {
  'option-a-shim': () => import('../option-a-shim/claims.ts'),
  'option-b-await': () => import('../option-b-await/claims.ts'),
  'option-c-branch': () => import('../option-c-branch/claims.ts'),
  'option-d-by-era': () => import('../option-d-by-era/claims.ts'),
  'option-e-bare': () => import('../option-e-bare/claims.ts'),
  'option-e-guard-first': () => import('../option-e-guard-first/claims.ts'),
  'option-e-naive': () => import('../option-e-naive/claims.ts'),
  'option-f-once': () => import('../option-f-once/claims.ts'),
  'option-g-tool-builder': () => import('../option-g-tool-builder/claims.ts'),
  'option-h-linear': () => import('../option-h-linear/claims.ts'),
  'option-h-postgres': () => import('../option-h-postgres/claims.ts'),
  'option-i-resolve': () => import('../option-i-resolve/claims.ts'),
  'option-j-journal': () => import('../option-j-journal/claims.ts'),
};

test('holds the modules of every folder to their types: a new one has a row in both lists', () => {
  const folders = OPTIONS.map(({ folder }) => folder).sort();
  expect(Object.keys(SERVERS).sort()).toEqual(folders);
  expect(Object.keys(CLAIMS).sort()).toEqual(folders);
});
