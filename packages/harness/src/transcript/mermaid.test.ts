import { expect, test } from 'vitest';
import { converse } from '../conversations/converse.ts';
import { CALL, deployer } from '../deployer.test-support.ts';
import { host, scriptedUser } from '../index.ts';
import { toMermaid } from './index.ts';

test('a conversation on a fleet is a sequence diagram, with an arrow to the instance that each round reached', async () => {
  const transcript = await converse({ ...CALL, user: scriptedUser({ sure: [true] }) }, () =>
    host('fleet', () => ({ server: deployer })),
  );
  expect(toMermaid(transcript)).toMatchInlineSnapshot(`
    "sequenceDiagram
      title tools/call deploy
      actor P0 as user
      participant P1 as modern client
      participant P2 as server 1
      participant P3 as server 2
      participant P4 as server 3
      P1->>P3: tools/call deploy {"env":"staging"}
      Note over P3: step sure
      Note over P3: state sealed, 5 B
      P3-->>P1: input_required sure: "Deploy to staging?"
      P1->>P0: Deploy to staging?
      P0-->>P1: yes
      P1->>P4: tools/call deploy + sure, state
      Note over P4: step sure
      Note over P4: effect deploy: runs
      Note over P4: deploy: staging
      P4-->>P1: Deployed to staging."
  `);
});
