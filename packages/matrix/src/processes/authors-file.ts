const AUTHORS =
  /packages\/options\/(?:(?!example-tools\/)[\w-]+\/src\/(?:weather|work-item|write)[\w-]*|contract\/src\/guard-first)\.ts$/;

/**
 * The name in transcripts of an author's file, by the URL of its module: `packages/options/b-await/src/weather.ts`.
 * Undefined for any other file.
 */
export const authorsFile = (url: string): string | undefined => AUTHORS.exec(url)?.[0];
