import { updateBlocks } from '@mrtr/matrix/documents';
import { expect, test } from 'vitest';

// It runs each quoted demo, perhaps on a busy machine.
const TIMEOUT = 120_000;

test(
  'the files and outputs that documents quote are up to date; `pnpm matrix --write` brings them up to date',
  async () => {
    expect(await updateBlocks({}, { write: false, only: 'quoted' })).toEqual([]);
  },
  TIMEOUT,
);
