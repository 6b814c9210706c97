/**
 * The name in transcripts of an option's author's file, such as `packages/options/b-await/src/weather.ts`, by the URL
 * of its module; undefined for any other file.
 */
export const authorsFile = (url: string): string | undefined =>
  /packages\/options\/(?!tools\/)[\w-]+\/src\/(?:weather|work-item)[\w-]*\.ts$/.exec(url)?.[0];
