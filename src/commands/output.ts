/** What was asked for; everything else is said by `tell`. */
export function print(text: string): void {
  process.stdout.write(`${text}\n`)
}

/** The same for a script (`--json`). */
export function printJson(value: unknown): void {
  print(JSON.stringify(value, null, 2))
}

/** To the person who waits, on standard error, so that no script takes it for a result. */
export function tell(text: string): void {
  process.stderr.write(`${text}\n`)
}
