/** Writes a result to standard output. */
export function print(text: string): void {
  process.stdout.write(`${text}\n`)
}

/** Writes a result as JSON to standard output, for `--json`. */
export function printJson(value: unknown): void {
  print(JSON.stringify(value, null, 2))
}

/** Writes a message to standard error, apart from the results that a script reads. */
export function printMessage(text: string): void {
  process.stderr.write(`${text}\n`)
}

export type Progress = { label: string; done: number; total: number }

type Output = { isTTY?: boolean; write(text: string): unknown }

const width = 30

/** Shows the progress of a long command: a bar on a terminal, otherwise one line per step. */
export function createProgress(output: Output): (progress: Progress) => void {
  return ({ label, done, total }) => {
    const isDone = done >= total
    if (output.isTTY !== true) {
      output.write(`${label}: ${done} of ${total}\n`)
      return
    }
    const filled = total === 0 ? width : Math.round((done / total) * width)
    const bar = '#'.repeat(filled).padEnd(width, '.')
    output.write(`\r${label} [${bar}] ${done}/${total}\u001b[K${isDone ? '\n' : ''}`)
  }
}
