const AUTHORS =
  /packages\/options\/(?!example-tools\/)[\w-]+\/src\/(?:weather|work-item)[\w-]*\.ts$|packages\/matrix\/src\/deploy\/shapes\/[e-j]\.ts$/;

/**
 * The name in transcripts of an author's file, by the URL of its module; undefined for any other file. It is an option's,
 * such as `packages/options/b-await/src/weather.ts`, or a shape's of the tool that has versions:
 * `packages/matrix/src/deploy/shapes/g.ts`.
 */
export const authorsFile = (url: string): string | undefined => AUTHORS.exec(url)?.[0];
