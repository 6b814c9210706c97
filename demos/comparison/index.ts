export * from './audit-log.ts';
export * from './open-meteo.ts';
export * from './tools.ts';
export * from './weather.ts';
export * from './work-items.ts';
export * from './world.ts';
