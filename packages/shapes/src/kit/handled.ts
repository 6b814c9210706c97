/**
 * The same promise, with its rejection handled. A handler that starts two questions and awaits them one by one never
 * reaches the second when the first is declined, and a user who declines twice must not end the process.
 */
export function handled<T>(answer: Promise<T>): Promise<T> {
  answer.catch(() => {});
  return answer;
}
