/** A fixed seed for the properties of `pnpm test`: a failure here can be repeated everywhere. */
import fc from 'fast-check';

fc.configureGlobal({ ...fc.readConfigureGlobal(), seed: 20260728 });
