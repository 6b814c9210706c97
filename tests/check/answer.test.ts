import { describeFamily } from './family.test-support.ts';

describeFamily('answer');
describeFamily('refusal');
