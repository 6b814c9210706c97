import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect, onTestFinished, test } from 'vitest';
import { openMeteo } from './open-meteo.ts';

// Both answers as the service documents them, with a field that we do not read.
const TOKYO = { id: 1850147, name: 'Tokyo', latitude: 35.6895, longitude: 139.69171, country: 'Japan' };
const FOUND = { results: [TOKYO], generationtime_ms: 0.7 };
const current = (temperature_2m: unknown, weather_code: unknown, unit = '°C') => ({
  elevation: 40,
  current_units: { interval: 'seconds', temperature_2m: unit, weather_code: 'wmo code' },
  current: { interval: 900, temperature_2m, weather_code },
});

/** A service on this machine that gives `answers` by path, and records its requests in `asked`. */
async function service(answers: { search?: unknown; forecast?: unknown }, listener?: RequestListener) {
  const asked: string[] = [];
  const server = createServer((req, res) => {
    asked.push(`${req.url}`);
    if (listener) return listener(req, res);
    const answer = req.url?.startsWith('/v1/search') ? answers.search : answers.forecast;
    res.setHeader('content-type', 'application/json; charset=utf-8');
    res.end(typeof answer === 'string' ? answer : JSON.stringify(answer));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const stop = async () => {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  };
  onTestFinished(stop);
  const base = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const options = { geocoding: `${base}/v1/search`, forecast: `${base}/v1/forecast` };
  return { asked, options, stop, weather: openMeteo(options) };
}

test('finds the weather of a place by its name, in the requested units', async () => {
  const { asked, weather } = await service({ search: FOUND, forecast: current(71.9, 2, '°F') });
  expect(await weather.current('Tokyo', 'imperial')).toEqual({
    location: 'Tokyo, Japan',
    units: 'imperial',
    temperature: 71.9,
    sky: 'partly cloudy',
  });
  expect(asked).toEqual([
    '/v1/search?name=Tokyo&count=1',
    '/v1/forecast?latitude=35.6895&longitude=139.69171&current=temperature_2m%2Cweather_code&temperature_unit=fahrenheit',
  ]);
});

test('a name with special characters is sent unchanged', async () => {
  const { asked, weather } = await service({ search: { generationtime_ms: 0.1 } });
  const name = 'Åre & Duved?count=9#/../ 東京';
  await expect(weather.current(name, 'metric')).rejects.toThrow(name);
  expect(new URL(asked[0] ?? '', 'http://x').searchParams.getAll('name')).toEqual([name]);
  expect(new URL(asked[0] ?? '', 'http://x').searchParams.getAll('count')).toEqual(['1']);
});

test('a place without a country is shown by its name, and an unknown sky by its code', async () => {
  const atSea = { name: 'Null Island', latitude: 0, longitude: 0 };
  const { weather } = await service({ search: { results: [atSea] }, forecast: current(27, 42) });
  expect(await weather.current('Null Island', 'metric')).toMatchObject({
    location: 'Null Island',
    sky: 'weather code 42',
  });
});

test.each([
  ['results left out', { generationtime_ms: 0.3 }],
  ['no results', { results: [] }],
])('with %s, the place is unknown', async (_what, search) => {
  const { weather } = await service({ search });
  const unknown = new Error("There is no place named 'Nowhere' on record.");
  await expect(weather.current('Nowhere', 'metric')).rejects.toEqual(unknown);
});

const UNREADABLE = 'The weather service gave an answer that cannot be read.';

test.each([
  ['garbage', '<html>', undefined],
  ['a place off the globe', { results: [{ ...TOKYO, latitude: 91 }] }, undefined],
  ['garbage for weather', FOUND, 'No data'],
  ['a temperature in words', FOUND, current('mild', 1)],
  ['other units', FOUND, current(71, 1, '°F')],
])('an answer of %s is an error', async (_what, search, forecast) => {
  const { weather } = await service({ search, forecast });
  await expect(weather.current('Tokyo', 'metric')).rejects.toThrow(UNREADABLE);
});

test('a status other than 200 is an error', async () => {
  const { weather } = await service({}, (_req, res) => void res.writeHead(429).end('{}'));
  await expect(weather.current('Tokyo', 'metric')).rejects.toThrow(UNREADABLE);
});

test.each<[string, RequestListener]>([
  ['begins to answer', () => {}],
  ['ends its answer', (_req, res) => void res.write('{')],
])('the request to a service that never %s times out', async (_what, listener) => {
  const { options } = await service({}, listener);
  await expect(openMeteo({ ...options, timeoutMs: 50 }).current('Tokyo', 'metric')).rejects.toMatchObject({
    message: 'The weather service did not answer in time. Try again later.',
    cause: { name: 'TimeoutError' },
  });
});

test('without a network, the error says so and does not name the endpoint', async () => {
  const { weather, stop } = await service({});
  await stop();
  const error: unknown = await weather.current('Tokyo', 'metric').catch((reason) => reason);
  const message = 'The weather service cannot be reached. Try again later.';
  expect(error).toMatchObject({ message, cause: expect.any(TypeError) });
  expect(`${error}`).not.toMatch(/127\.0\.0\.1|v1|http/);
});
