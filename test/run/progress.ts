import { type Failure, followTap } from './failures.ts'

/** What a run has done so far. */
export type Progress = {
  /** A program of the run has started: a test file, or a batch of them. */
  program(name: string): { line(text: string): void; end(): void }
  /** One line: files done of all, assertions, seconds and the file that has run longest. */
  summary(): string
}

/** @param ms the time that is shown in seconds */
export function trackProgress(
  files: number,
  { failed, now }: { failed(report: string): void; now(): number },
): Progress {
  const start = now()
  const seconds = (since: number) => `${Math.round((now() - since) / 1_000)} s`
  const running = new Map<string, number>()
  const seeds = new Map<string, string>()
  const count = { done: 0, passed: 0, failed: 0, skipped: 0 }
  const end = (file: string) => {
    if (running.delete(file)) count.done += 1
  }
  const report = (file: string, { text }: Failure) => {
    const seed = seeds.has(file) ? `${seeds.get(file)} ` : ''
    const command = file.endsWith('.ts') ? `\nTo repeat it: ${seed}npm test -- ${file}` : ''
    failed(`${text}${command}`)
  }
  return {
    program(name) {
      // A batch names each file as a test; a file that runs alone is the program.
      const isFile = name.endsWith('.ts')
      let latest = name
      // What a file of a batch imports from another test file is beside it, and belongs to it.
      const isFileOfBatch = ([first = '', ...inner]: readonly string[]) =>
        !isFile && inner.length === 0 && first.endsWith('.ts')
      const fileOf = ([first = '']: readonly string[]) => (first.endsWith('.ts') ? first : latest)
      if (isFile) running.set(name, now())
      const tap = followTap({
        begun: (test) => {
          if (!isFileOfBatch(test)) return
          latest = fileOf(test)
          running.set(latest, now())
        },
        ended: (test) => {
          if (isFileOfBatch(test)) end(fileOf(test))
        },
        asserted: (outcome) => {
          count[outcome] += 1
        },
        seeded: (test, seed) => seeds.set(fileOf(test), seed),
        failed: (failure) => report(fileOf(failure.test), failure),
      })
      return {
        line: tap.line,
        end() {
          tap.end()
          if (isFile) end(name)
        },
      }
    },
    summary() {
      const [slowest] = [...running].sort(([, one], [, other]) => one - other)
      return [
        `${count.done} of ${files} files`,
        `${count.passed} passed`,
        `${count.failed} failed`,
        seconds(start),
        ...(slowest ? [`longest now: ${slowest[0]} ${seconds(slowest[1])}`] : []),
      ].join(', ')
    },
  }
}
