import { openApi } from '../api/api-client.ts'
import type { Sources } from '../kit/environment.ts'
import { print, printMessage } from '../kit/output.ts'
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
  sources: Sources,
  { from = new Date().toISOString(), json, ...options }: Options,
): Promise<void> {
  const { api, baseUrl } = await openApi(sources)
  if (options.follow) printMessage(`Events of ${baseUrl} since ${from}. Ctrl-C ends it.`)
  for await (const { events } of readFeed(api, { from, after: null }, options)) {
    for (const event of events) {
      if (json) print(JSON.stringify(event))
      else print(`${event.createdAt}  ${event.type.padEnd(typeWidth)}  ${event.id}`)
    }
  }
}

const typeWidth = 22 // of the longest type
