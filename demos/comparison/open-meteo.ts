/** Real weather from Open-Meteo: two requests per report, no key needed. */
import { z } from 'zod';
import type { UnitSystem, WeatherSource } from './weather.ts';

/** The options of {@link openMeteo}. */
export interface OpenMeteoOptions {
  /** Finds places by name. Default `https://geocoding-api.open-meteo.com/v1/search`. */
  readonly geocoding?: string | URL;
  /** Gives the weather at coordinates. Default `https://api.open-meteo.com/v1/forecast`. */
  readonly forecast?: string | URL;
  /** The time limit of one report, in milliseconds. Default 5000. */
  readonly timeoutMs?: number;
}

/**
 * Weather from Open-Meteo. On failure, its error's message is for the tool's user and names no endpoint; the `cause`
 * may.
 *
 * @see https://open-meteo.com/en/docs and https://open-meteo.com/en/docs/geocoding-api
 */
export function openMeteo(options: OpenMeteoOptions = {}): WeatherSource {
  const {
    geocoding = 'https://geocoding-api.open-meteo.com/v1/search',
    forecast = 'https://api.open-meteo.com/v1/forecast',
    timeoutMs = 5000,
  } = options;
  return {
    async current(location, units) {
      const signal = AbortSignal.timeout(timeoutMs);
      const found = await ask(geocoding, { name: location, count: '1' }, Places, signal);
      const place = found.results[0];
      if (!place) throw new Error(`There is no place named '${location}' on record.`);
      const { current, current_units } = await ask(
        forecast,
        {
          latitude: `${place.latitude}`,
          longitude: `${place.longitude}`,
          current: 'temperature_2m,weather_code',
          temperature_unit: SCALE[units].name,
        },
        Forecast,
        signal,
      );
      if (current_units.temperature_2m !== SCALE[units].sign) throw unreadable('other units than asked for');
      return {
        location: place.country === undefined ? place.name : `${place.name}, ${place.country}`,
        units,
        temperature: current.temperature_2m,
        sky: SKIES[current.weather_code] ?? `weather code ${current.weather_code}`,
      };
    },
  };
}

const SCALE: Readonly<Record<UnitSystem, { readonly name: string; readonly sign: string }>> = {
  metric: { name: 'celsius', sign: '°C' },
  imperial: { name: 'fahrenheit', sign: '°F' },
};

/** Without a match, the service leaves `results` out. */
const Places = z.object({
  results: z
    .array(
      z.object({
        name: z.string().min(1),
        country: z.string().optional(),
        latitude: z.number().min(-90).max(90),
        longitude: z.number().min(-180).max(180),
      }),
    )
    .default([]),
});

const Forecast = z.object({
  current: z.object({ temperature_2m: z.number(), weather_code: z.number().int() }),
  current_units: z.object({ temperature_2m: z.string() }),
});

async function ask<T>(
  endpoint: string | URL,
  parameters: Readonly<Record<string, string>>,
  schema: z.ZodType<T>,
  signal: AbortSignal,
): Promise<T> {
  const url = new URL(endpoint);
  for (const [name, value] of Object.entries(parameters)) url.searchParams.set(name, value);
  const { status, text } = await fetchText(url, signal);
  if (status !== 200) throw unreadable(`status ${status}`);
  try {
    return schema.parse(JSON.parse(text));
  } catch (cause) {
    throw unreadable(cause);
  }
}

async function fetchText(url: URL, signal: AbortSignal): Promise<{ status: number; text: string }> {
  try {
    const response = await fetch(url, { signal, headers: { accept: 'application/json' } });
    return { status: response.status, text: await response.text() };
  } catch (cause) {
    const why = signal.aborted ? 'did not answer in time' : 'cannot be reached';
    throw new Error(`The weather service ${why}. Try again later.`, { cause });
  }
}

const unreadable = (cause: unknown): Error =>
  new Error('The weather service gave an answer that cannot be read.', { cause });

/** WMO weather interpretation codes (table 4677), as far as Open-Meteo uses them. */
const SKIES: Readonly<Record<number, string>> = {
  0: 'clear sky',
  1: 'mainly clear',
  2: 'partly cloudy',
  3: 'overcast',
  45: 'fog',
  48: 'depositing rime fog',
  51: 'light drizzle',
  53: 'moderate drizzle',
  55: 'dense drizzle',
  56: 'light freezing drizzle',
  57: 'dense freezing drizzle',
  61: 'slight rain',
  63: 'moderate rain',
  65: 'heavy rain',
  66: 'light freezing rain',
  67: 'heavy freezing rain',
  71: 'slight snowfall',
  73: 'moderate snowfall',
  75: 'heavy snowfall',
  77: 'snow grains',
  80: 'slight rain showers',
  81: 'moderate rain showers',
  82: 'violent rain showers',
  85: 'slight snow showers',
  86: 'heavy snow showers',
  95: 'thunderstorm',
  96: 'thunderstorm with slight hail',
  99: 'thunderstorm with heavy hail',
};
