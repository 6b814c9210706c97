import {
  acceptedContent,
  inputRequired,
  inputResponse,
  type ServerContext,
} from '@modelcontextprotocol/server';
import { describeItem, Original, Resolution, type ResolveWorkItem, type World } from '@mrtr/comparison';
import { text } from './text.ts';

export const resolveWorkItem =
  (world: World) =>
  async ({ id, state }: ResolveWorkItem, { mcpReq }: ServerContext) => {
    const { inputResponses } = mcpReq;
    if (state === 'Active') return text(describeItem(await world.items.setState(id, state)));

    const refused = ['resolution', 'original'].find((key) => {
      const given = inputResponse(inputResponses, key);
      return given.kind === 'elicit' && given.action !== 'accept';
    });
    if (refused) return text(`Cancelled: the question '${refused}' was not answered.`);

    // Nothing protects this state: the client can change it.
    const remembered = mcpReq.requestState<string>();
    const resolution =
      remembered === undefined
        ? acceptedContent(inputResponses, 'resolution', Resolution)
        : Resolution.parse(JSON.parse(remembered));
    if (resolution === undefined) {
      const how = inputRequired.elicit({ message: `How was #${id} resolved?`, requestedSchema: Resolution });
      return inputRequired({ inputRequests: { resolution: how } });
    }
    const kind = resolution.resolution;
    if (kind !== 'Duplicate') return text(describeItem(await world.items.resolve(id, kind)));

    const answer = acceptedContent(inputResponses, 'original', Original);
    if (answer === undefined) {
      const which = inputRequired.elicit({
        message: `Which item is #${id} a duplicate of?`,
        requestedSchema: Original,
      });
      return inputRequired({ inputRequests: { original: which }, requestState: JSON.stringify(resolution) });
    }
    return text(describeItem(await world.items.resolve(id, kind, answer.original)));
  };
