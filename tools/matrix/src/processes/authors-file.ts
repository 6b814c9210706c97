const AUTHORS = /demos\/(?:option-[\w-]+\/(?:weather|work-item)|approve\/tool-builder)\.ts$/;

/** The name in transcripts of an author's file, by its module's URL; undefined for any other file. */
export const authorsFile = (url: string): string | undefined => AUTHORS.exec(url)?.[0];
