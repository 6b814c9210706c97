import { describeFamily } from './family.test-support.ts';

describeFamily('wire');
describeFamily('capability');
