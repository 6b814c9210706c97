import { describeFamily } from './family.test-support.ts';

describeFamily('era');
describeFamily('abandon');
