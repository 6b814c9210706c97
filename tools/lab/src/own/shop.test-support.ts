/** A server whose tool stands in another file. */
import './pay.test-support.ts';
