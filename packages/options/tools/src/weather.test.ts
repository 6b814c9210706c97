import { expect, test } from 'vitest';
import { describeWeather, fixedWeather, Units } from './weather.ts';

test('the same weather is told in either system of units', async () => {
  expect(await fixedWeather.current('Tokyo', 'metric')).toEqual({
    location: 'Tokyo',
    units: 'metric',
    temperature: 22,
    sky: 'partly cloudy',
  });
  expect(describeWeather(await fixedWeather.current('Tokyo', 'metric'))).toBe(
    'Weather in Tokyo: 22°C, partly cloudy.',
  );
  expect(describeWeather(await fixedWeather.current('Tokyo', 'imperial'))).toBe(
    'Weather in Tokyo: 72°F, partly cloudy.',
  );
});

test('units other than the two on offer do not fit the answer', () => {
  expect(Units.safeParse({ units: 'imperial' }).success).toBe(true);
  expect(Units.safeParse({ units: 'kelvin' }).success).toBe(false);
  expect(Units.safeParse({}).success).toBe(false);
});
