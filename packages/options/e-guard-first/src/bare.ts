import { McpServer } from '@modelcontextprotocol/server';
import { defineOption, SERVER_INFO } from '@mrtr/options-contract';
import { claims } from './claims.ts';
import { getWeather } from './weather-bare.ts';
import { resolveWorkItem } from './work-item-bare.ts';

/** E on the SDK alone, without our boundary, like most servers today. */
export const option = defineOption({
  handlers: ({ world, onEntry = () => {}, onExit = () => {} }) => {
    // Nothing publishes diagnostics here, so call the measurement directly.
    const counted =
      <Args extends unknown[], Result>(handler: (...args: Args) => Promise<Result>) =>
      (...args: Args) => {
        onEntry();
        return handler(...args).finally(onExit);
      };
    return {
      getWeather: counted(getWeather(world)),
      resolveWorkItem: counted(resolveWorkItem(world)),
    };
  },
  server: () => new McpServer(SERVER_INFO),
  claims: {
    ...claims,
    modern: {
      ...claims.modern,
      stateBytes: { get_weather: [0], resolve_work_item: [0, 26] },
      unaskable: 'error',
      forgeries: 'taken',
    },
    legacy: { ...claims.legacy, asked: 'always', stateless: 'error' },
  },
});
