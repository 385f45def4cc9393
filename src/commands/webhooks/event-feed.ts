import { setTimeout as pause } from 'node:timers/promises'
import { printMessage } from '../kit/output.ts'
import { type ApiClient, ApiUnavailable, type Page } from './api-client.ts'

/** An event as it is sent to endpoints. */
export type FeedEvent = { id: string; type: string; createdAt: string; data: unknown }

/** Where to go on: `from` is the time at which the first run began, which the cursor belongs to. */
export type FeedPosition = { from: string; after: string | null }

type Options = {
  /** Wait for new events at the end of the feed. */
  follow: boolean
  type: string | undefined
  /** At most so many events at once, 100 unless given. */
  limit?: number
}

const pollMs = 1_000

/**
 * The events of the token's tenant in order, in pages that are not empty. An instance that does not
 * respond is asked again while the feed is followed.
 */
export async function* readFeed(
  client: ApiClient,
  { from, after }: FeedPosition,
  { follow, type, limit = 100 }: Options,
): AsyncGenerator<{ events: FeedEvent[]; position: FeedPosition }> {
  let cursor = after
  for (;;) {
    const query = { from, after: cursor ?? undefined, type, limit: String(limit) }
    const page = await readPage(client, query, follow)
    cursor = page.nextCursor ?? cursor
    if (page.data.length > 0) yield { events: page.data, position: { from, after: cursor } }
    else if (!follow) return
    else await pause(pollMs)
  }
}

async function readPage(
  client: ApiClient,
  query: Readonly<Record<string, string | undefined>>,
  follow: boolean,
): Promise<Page<FeedEvent>> {
  for (;;) {
    try {
      return await client.get<Page<FeedEvent>>('/events', query)
    } catch (error) {
      if (!follow || !(error instanceof ApiUnavailable)) throw error
      printMessage(`${error.message} Trying again.`)
      await pause(error.waitMs)
    }
  }
}
