/** The part of a client of the `redis` package that the stores on Redis use. */
export interface RedisClient {
  eval(script: string, options: { keys: string[]; arguments: string[] }): Promise<unknown>;
  /** Reads settings of the server. A ledger warns about settings that lose entries, if it can read them. */
  configGet?(parameters: string[]): Promise<unknown>;
}
