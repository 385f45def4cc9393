import { Readable } from 'node:stream'
import { setTimeout } from 'node:timers/promises'
import type { FastifyBaseLogger, FastifyReply } from 'fastify'
import fp from 'fastify-plugin'
import { Problem } from '#src/http/problems.ts'

/** One server-sent event; the stream ends after the last one. */
export type StreamedEvent = { name: string; data: object; isLast: boolean }

declare module 'fastify' {
  interface FastifyReply {
    /**
     * Responds with server-sent events: the result of `read`, once per second, until `isLast`. A
     * stream ends after 30 s at the latest, when a read fails, for instance because the session has
     * ended, or when the server stops; the browser then reconnects, and the new request is authorized
     * again.
     * @param owner key by which open streams are shared: an owner's share shrinks with the room that
     *   is left, so the last streams are for owners that have none
     * @throws Problem when too many streams are open
     */
    streamEvents(owner: string, read: () => Promise<StreamedEvent>): FastifyReply
  }
}

type Limits = { perOwner?: number; total?: number; reads?: number; pauseMs?: number }

const refused = { retryAfterSeconds: 5, reason: 'event-streams' }

/** Server-sent events for pages, limited in duration and number. */
export default fp<Limits>(
  async function eventStream(app, { perOwner = 8, total = 200, reads = 30, pauseMs = 1_000 }) {
    const openStreams = new Set<{ owner: string }>()
    const stopping = new AbortController()

    app.decorateReply('streamEvents', function streamEvents(owner, read): FastifyReply {
      const room = total - openStreams.size
      if (room <= 0) {
        const detail = `${total} live pages are open, the most that a process has.`
        throw new Problem('unavailable', { ...refused, detail })
      }
      const own = [...openStreams].filter((stream) => stream.owner === owner)
      const share = Math.ceil((room * perOwner) / total)
      if (own.length >= share) {
        const detail = `${own.length} live pages of yours are open, of ${perOwner} at most.`
        throw new Problem('too-many-requests', { ...refused, detail })
      }
      const entry = { owner }
      openStreams.add(entry)
      const events = readEvents(() => read().catch((error) => endEarly(this.log, error)))
      const stream = Readable.from(events).once('close', () => openStreams.delete(entry))
      return this.header('content-type', 'text/event-stream')
        .header('x-accel-buffering', 'no') // nginx would buffer the stream
        .header('connection', 'close') // otherwise server.close() waits for the browser
        .send(stream)
    })

    async function* readEvents(read: () => Promise<StreamedEvent | null>): AsyncGenerator<string> {
      for (let sent = 0; sent < reads; sent += 1) {
        const event = await read()
        if (event === null) return
        const { name, data, isLast } = event
        yield `event: ${name}\ndata: ${JSON.stringify(data)}\n\n`
        if (isLast || !(await pause())) return
      }
    }

    /** Resolves to false when the server stops. */
    async function pause(): Promise<boolean> {
      const { signal } = stopping
      return setTimeout(pauseMs, true, { signal }).catch(() => false)
    }

    app.addHook('preClose', async function endStreams() {
      stopping.abort()
    })
  },
  { name: 'event-stream', fastify: '5.x' },
)

/** The response has begun, so its status cannot name the error; the next request's does. */
function endEarly(log: FastifyBaseLogger, error: unknown): null {
  log.debug({ err: error }, 'an event stream ended early')
  return null
}
