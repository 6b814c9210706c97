import { test } from 'vitest';

// It builds a page and drives a browser, which tests of every change do not.
test.skip('the lab in a real browser (SKIPPED: `pnpm lab --test` runs it, and so does .ci/run)', () => {});
