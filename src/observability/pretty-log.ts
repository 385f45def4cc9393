import type { DestinationStream } from 'pino'
import { prettyFactory } from 'pino-pretty'

/** A line per entry for reading along; only errors have further lines, their stack. */
export function prettyDestination(
  output: DestinationStream,
  { colorize }: { colorize: boolean },
): DestinationStream {
  const prettyOptions = { colorize, singleLine: true, translateTime: 'SYS:HH:MM:ss' }
  const format = prettyFactory(prettyOptions)
  const formatRequest = prettyFactory({
    ...prettyOptions,
    messageFormat: '{route} {status} in {ms} ms',
    ignore: 'route,status,ms,reqId',
  })
  const isRequest = (line: string) => line.endsWith('"msg":"request"}\n')
  return { write: (line) => output.write((isRequest(line) ? formatRequest : format)(line)) }
}
