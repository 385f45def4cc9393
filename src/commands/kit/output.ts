import { relative, resolve } from 'node:path'
import { programFolder } from '#src/runtime/assets.ts'

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
  process.stderr.write(`${withDocuments(text)}\n`)
}

/**
 * Names documents such as docs/fields.md where an app has them, in the installed package.
 * @param program the folder of the program
 * @param current the folder that its reader is in
 */
export function withDocuments(
  text: string,
  program: string = programFolder,
  current: string = process.cwd(),
): string {
  if (!/[/\\]node_modules[/\\]/.test(program)) return text
  const path = relative(current, program)
  const folder = path.startsWith('..') ? resolve(program) : path
  return text.replaceAll(/(?<![\w./-])docs\/(?=[\w-]+\.md)/g, `${folder}/docs/`)
}

/** `total`: null if it is not known, and `label` says what is counted. */
export type Progress = { label: string; done: number; total: number | null }

type Output = { isTTY?: boolean; write(text: string): unknown }

const width = 30

/**
 * Shows the progress of a long command: on a terminal a bar with the rate and the time that is left,
 * otherwise one line per step. Without a total it counts, on a terminal alone.
 */
export function createProgress(
  output: Output,
  now: () => number = () => performance.now(),
): (progress: Progress) => void {
  let begun: { label: string; ms: number; done: number } | null = null
  return ({ label, done, total }) => {
    if (total === null) {
      if (output.isTTY === true) output.write(`\r${label}: ${done.toLocaleString('en-GB')}\u001b[K`)
      return
    }
    const isDone = done >= total
    if (output.isTTY !== true) {
      output.write(`${label}: ${done} of ${total}\n`)
      return
    }
    if (begun?.label !== label) begun = { label, ms: now(), done }
    const filled = total === 0 ? width : Math.round((done / total) * width)
    const bar = '#'.repeat(filled).padEnd(width, '.')
    const pace = paceOf(done - begun.done, (now() - begun.ms) / 1000, total - done)
    output.write(`\r${label} [${bar}] ${done}/${total}${pace}\u001b[K${isDone ? '\n' : ''}`)
  }
}

/** Rate and end, once something has been done for long enough to tell. */
function paceOf(done: number, seconds: number, left: number): string {
  if (done === 0 || seconds < 1) return ''
  const rate = done / seconds
  const shown = rate < 10 ? rate.toFixed(1) : Math.round(rate).toString()
  return left > 0 ? `, ${shown}/s, ${durationOf(left / rate)} left` : `, ${shown}/s`
}

function durationOf(seconds: number): string {
  if (seconds < 100) return `${Math.ceil(seconds)} s`
  return seconds < 6_000 ? `${Math.ceil(seconds / 60)} min` : `${Math.ceil(seconds / 3600)} h`
}
