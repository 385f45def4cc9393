import type { Environment } from '#src/config/parse.ts'
import { print, printMessage } from '../kit/output.ts'
import { openApiClient } from './api-client.ts'
import { readFeed } from './event-feed.ts'

type Options = {
  readonly type?: string
  /** RFC 3339. */
  readonly from?: string
  readonly follow: boolean
  readonly json?: true
}

/** `gatehouse events tail`: the events of the tenant as they happen. */
export default async function tail(
  env: Environment,
  { type, from, follow, json }: Options,
): Promise<void> {
  const client = await openApiClient(env)
  const begin = { from: from ?? new Date().toISOString(), after: null }
  if (follow) printMessage(`Events of ${client.baseUrl} since ${begin.from}. Ctrl-C ends it.`)
  for await (const { events } of readFeed(client, begin, { follow, type })) {
    for (const event of events) {
      if (json) print(JSON.stringify(event))
      else print(`${event.createdAt}  ${event.type.padEnd(typeWidth)}  ${event.id}`)
    }
  }
}

const typeWidth = 22 // of the longest type
