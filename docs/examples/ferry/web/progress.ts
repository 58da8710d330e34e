/** Shows how far a transfer has come. */
export interface Progress {
  name: string;
  received: number;
  expected: number | null;
}

/** Format a progress as one line; without an expected size only what has arrived is told. */
export function line(progress: Progress): string {
  if (progress.expected === null) {
    return `${progress.name}: ${progress.received} bytes`;
  }
  const share = Math.floor((100 * progress.received) / progress.expected);
  return `${progress.name}: ${share} %`;
}
