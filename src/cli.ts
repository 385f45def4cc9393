#!/usr/bin/env node
import { CommanderError } from '@commander-js/extra-typings'
import { printMessage } from '#src/commands/kit/output.ts'
import { isTooOld, neededNode } from '#src/runtime/needed-node.ts'
import { beginWithHeapFlags } from '#src/runtime/process/heap.ts'

// A reader that closes the pipe early (`| head`) is not an error.
process.stdout.on('error', (error) => {
  const code = 'code' in error ? error.code : ''
  if (code === 'EPIPE') process.exit()
  // The terminal was closed, which also sends SIGHUP: a server still stops its parts.
  if (code !== 'EIO') throw error
})
process.stderr.on('error', () => {})

if (isTooOld(process.versions.node)) {
  printMessage(
    `gatehouse: This is Node ${process.versions.node}. Install Node ${neededNode} or newer.`,
  )
  process.exit(1)
}

// Before the program is loaded, and only for what runs for long.
if (['serve', 'worker'].some((command) => process.argv.includes(command))) beginWithHeapFlags()

try {
  // With it the app is loaded, which may have a mistake.
  const { createProgram } = await import('#src/commands/program.ts')
  const { operationsToComplete } = await import('#src/commands/api/command-line.ts')
  await createProgram(await operationsToComplete(process.argv.slice(2))).parseAsync()
} catch (error) {
  if (error instanceof CommanderError) {
    // Help and --version end this way too, with 0; commander has printed the message.
    process.exitCode = error.exitCode === 0 ? 0 : 2
  } else {
    // Loaded late: what it imports takes longer than the start of the command line.
    const { errorMessage } = await import('#src/commands/kit/error-message.ts')
    printMessage(`gatehouse: ${errorMessage(error)}`)
    process.exitCode = 1
  }
}
