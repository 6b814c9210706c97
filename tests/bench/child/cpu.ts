/** Processor time that this process has had, in microseconds. */
export function cpuUsed(): number {
  const { user, system } = process.cpuUsage();
  return user + system;
}
