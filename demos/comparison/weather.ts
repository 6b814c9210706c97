import { z } from 'zod';

/** The answer to "Which units?", the weather tool's only question. */
export const Units = z.object({ units: z.enum(['metric', 'imperial']).meta({ title: 'Units' }) });

/** A system of units. */
export type UnitSystem = z.infer<typeof Units>['units'];

/** The weather in one place, with the temperature in the requested units. */
export interface WeatherReport {
  readonly location: string;
  readonly units: UnitSystem;
  /** Degrees Celsius in metric units, Fahrenheit in imperial ones. */
  readonly temperature: number;
  readonly sky: string;
}

/** The source of reports. It needs the units, so there is no report before the answer. */
export interface WeatherSource {
  current(location: string, units: UnitSystem): Promise<WeatherReport>;
}

/** The same mild weather everywhere and always, so that two runs differ only in the handler's shape. */
export const fixedWeather: WeatherSource = {
  async current(location, units) {
    return { location, units, temperature: units === 'metric' ? 22 : 72, sky: 'partly cloudy' };
  },
};

/** A report as one sentence: `Weather in Tokyo: 22°C, partly cloudy.` */
export function describeWeather({ location, units, temperature, sky }: WeatherReport) {
  return `Weather in ${location}: ${temperature}°${units === 'metric' ? 'C' : 'F'}, ${sky}.`;
}

/** The result for a client that cannot be asked. */
export const DEFAULT_UNITS: z.infer<typeof Units> = { units: 'metric' };
