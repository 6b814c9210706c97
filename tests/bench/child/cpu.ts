/** Processor time that this process has used, in microseconds. */
export function cpuUsed(): number {
  const { user, system } = process.cpuUsage();
  return user + system;
}
