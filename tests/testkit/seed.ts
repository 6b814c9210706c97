/** Every property of `pnpm test` is tried with the same cases each time: what fails here fails everywhere. */
import fc from 'fast-check';

fc.configureGlobal({ ...fc.readConfigureGlobal(), seed: 20260728 });
