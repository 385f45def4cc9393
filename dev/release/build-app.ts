import { stat } from 'node:fs/promises'
import { OperatorError } from '#src/runtime/operator-error.ts'
import { bundleProgram } from './bundle.ts'
import { writeBinary } from './sea.ts'

/** The first Node that writes a program into a copy of itself. */
const neededNode = 26

/**
 * Writes an app and the program as one file (`gatehouse build`).
 * @param app the folder of the app
 * @param file the absolute path of what is written
 * @returns a line for the developer
 * @throws OperatorError if this Node is too old
 */
export async function buildApp(app: string, file: string): Promise<string> {
  if (Number(process.versions.node.split('.')[0]) < neededNode) {
    throw new OperatorError(
      `Node ${process.versions.node} cannot write a program into one file.`,
      `Run gatehouse build with Node ${neededNode} or newer; the file contains that Node.`,
    )
  }
  const notes: string[] = []
  await writeBinary(await bundleProgram({ app }), file, (line) => notes.push(line))
  const { size } = await stat(file)
  return [
    ...notes,
    `written ${file}: ${(size / 1e6).toFixed(0)} MB, with Node ${process.versions.node}`,
  ].join('\n')
}
