export type Progress = { label: string; done: number; total: number }

type Output = { isTTY?: boolean; write(text: string): unknown }

const width = 30

/**
 * Shows how far a long command is: one bar that is drawn over itself on a terminal, else a line
 * for each step.
 */
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
