/** The part of a client of the `redis` package that the stores on Redis use. */
export interface RedisClient {
  eval(script: string, options: { keys: string[]; arguments: string[] }): Promise<unknown>;
  /** Reads the server's settings. If present, a ledger warns about settings that lose entries. */
  configGet?(parameters: string[]): Promise<unknown>;
}
