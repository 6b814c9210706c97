import { describeFamily } from './family.test-support.ts';

describeFamily('retry');
describeFamily('effect');
describeFamily('instance');
