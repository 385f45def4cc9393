import { globSync } from 'node:fs'
import { chmod, mkdtemp, rename, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Test } from 'tap'

/** libfaketime of the machine, which replaces the clock of a program; undefined if there is none. */
export const faketime = globSync('/usr/lib/*/faketime/libfaketime.so.1')[0]

export type SteppingClock = {
  /** For the program whose clock it is. */
  environment: Record<string, string>
  /** Sets the clock to this many seconds after the real time, or before it. */
  step(seconds: number): Promise<void>
}

/** A clock that can be set while a program uses it. Its timeouts are still measured in real time. */
export async function createSteppingClock(t: Test): Promise<SteppingClock> {
  if (faketime === undefined) throw new Error('There is no libfaketime on this machine.')
  const folder = await mkdtemp(join(tmpdir(), 'gatehouse-clock-'))
  t.teardown(() => rm(folder, { recursive: true, force: true }))
  await chmod(folder, 0o755) // for the account the server runs under when this is root
  const file = join(folder, 'offset')
  const step = async (seconds: number) => {
    // Replaced as a whole: it is read at each look at the clock.
    await writeFile(`${file}.new`, `${seconds < 0 ? '' : '+'}${seconds}\n`)
    await rename(`${file}.new`, file)
  }
  await step(0)
  return {
    environment: {
      LD_PRELOAD: faketime,
      FAKETIME_TIMESTAMP_FILE: file,
      FAKETIME_NO_CACHE: '1',
      FAKETIME_DONT_FAKE_MONOTONIC: '1',
      FAKETIME_DISABLE_SHM: '1',
    },
    step,
  }
}
