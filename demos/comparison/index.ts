/** `@mrtr/comparison`: the two tools of every option, and the world that they read and write. */
import { z } from 'zod';

export * from './weather.ts';
export * from './work-items.ts';
export * from './world.ts';

/** The name and version of every option's server, so that only the shape can differ on the wire. */
export const SERVER_INFO = { name: 'mrtr-shapes', version: '0.0.0' };

/** The name every option registers `getWeatherTool` under. */
export const GET_WEATHER = 'get_weather';

/** The name every option registers `resolveWorkItemTool` under. */
export const RESOLVE_WORK_ITEM = 'resolve_work_item';

/** The name of one of the two tools. */
export type ToolName = typeof GET_WEATHER | typeof RESOLVE_WORK_ITEM;

/** The weather tool's definition: identical in every option, so that only the handlers differ. */
export const getWeatherTool = {
  title: 'Get weather',
  description: 'Tells the current weather in a place. Asks which units to use.',
  inputSchema: z.object({ location: z.string().min(1).max(200) }),
};

/** The work item tool's definition: identical in every option, so that only the handlers differ. */
export const resolveWorkItemTool = {
  title: 'Resolve work item',
  description:
    'Changes the state of a work item. Asks how it was resolved, and of which item it is a duplicate.',
  inputSchema: z.object({ id: z.number().int().positive(), state: z.enum(['Active', 'Resolved']) }),
};

/** The weather tool's arguments. */
export type GetWeather = z.infer<typeof getWeatherTool.inputSchema>;

/** The work item tool's arguments. */
export type ResolveWorkItem = z.infer<typeof resolveWorkItemTool.inputSchema>;
