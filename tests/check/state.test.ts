import { describeFamily } from './family.test-support.ts';

// Those are in state-integrity.test.ts: they present the state some hundred times.
describeFamily('state', ['state.forged', 'state.tampered', 'state.malformed', 'state.aliased']);
