import { setTimeout as pause } from 'node:timers/promises'
import { ApiError } from '#clients/typescript/src/api-error.ts'
import type { GatehouseClient, Schemas } from '#clients/typescript/src/client.ts'
import { ApiUnreachable } from '../api/api-client.ts'
import { refusal } from '../kit/error-message.ts'
import { printMessage } from '../kit/output.ts'

/** An event as it is sent to endpoints. */
export type FeedEvent = Schemas['EventPage']['data'][number]

/** Where to go on: `from` is the time at which the first run began, which the cursor belongs to. */
export type FeedPosition = { from: string; after: string | null }

type Options = {
  /** Wait for new events at the end of the feed. */
  follow: boolean
  type?: string
  /** The most events at once; 100 unless given. */
  limit?: number
}

const pollMs = 1_000

/**
 * The events of the token's tenant in order, in pages that are not empty. An instance that does not
 * respond is asked again while the feed is followed.
 */
export async function* readFeed(
  api: GatehouseClient,
  { from, after }: FeedPosition,
  { follow, limit = 100, ...filter }: Options,
): AsyncGenerator<{ events: FeedEvent[]; position: FeedPosition }> {
  let cursor = after
  for (;;) {
    try {
      const query = { from, limit, ...filter, ...(cursor !== null && { after: cursor }) }
      for await (const { data, nextCursor } of api.pages('/events', { params: { query } })) {
        cursor = nextCursor ?? cursor
        if (data.length > 0) yield { events: data, position: { from, after: cursor } }
      }
    } catch (error) {
      const reason = reasonToWait(error)
      if (!follow || reason === null) throw error
      printMessage(`${reason} Trying again.`)
    }
    if (!follow) return
    await pause(pollMs)
  }
}

function reasonToWait(error: unknown): string | null {
  if (error instanceof ApiUnreachable) return error.message
  const isBusy = error instanceof ApiError && [429, 502, 503, 504].includes(error.status)
  return isBusy ? refusal(error) : null
}
