/** Every option there is, in order. The one list in the tests; the CLI has the other, by name and lazily. */
import { createRequire } from 'node:module';
import { pathToFileURL } from 'node:url';
import { option as a } from '@mrtr/option-a';
import { option as b } from '@mrtr/option-b';
import { option as c } from '@mrtr/option-c';
import { option as d } from '@mrtr/option-d';
import { option as e, naive } from '@mrtr/option-e';
import { option as f } from '@mrtr/option-f';
import { option as g } from '@mrtr/option-g';
import { option as h } from '@mrtr/option-h';
import { option as i } from '@mrtr/option-i';
import { option as j } from '@mrtr/option-j';
import type { Option } from '@mrtr/tools';

/** The lettered options, and the variant that shows the footgun. */
export const OPTIONS: readonly Option[] = [a, b, c, d, e, naive, f, g, h, i, j];

const require = createRequire(import.meta.url);

/** Where a process of its own finds an option: by the package, and by the name that the package exports it under. */
export const moduleOf = ({ id }: Pick<Option, 'id'>) => {
  const [letter, variant = 'option'] = id.split('-');
  const folder = id === 'h-postgres' ? id : letter;
  const module = pathToFileURL(require.resolve(`@mrtr/option-${folder}`)).href;
  const { MRTR_POSTGRES: url } = process.env;
  return { module, name: variant, ...(url !== undefined && { env: { MRTR_POSTGRES: url } }) };
};
