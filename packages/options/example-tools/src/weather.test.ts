import { expect, test } from 'vitest';
import { describeWeather, fixedWeather, Units } from './weather.ts';

test('the same weather can be reported in both systems of units', async () => {
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

test('the answer accepts only the two offered systems of units', () => {
  expect(Units.safeParse({ units: 'imperial' }).success).toBe(true);
  expect(Units.safeParse({ units: 'kelvin' }).success).toBe(false);
  expect(Units.safeParse({}).success).toBe(false);
});
