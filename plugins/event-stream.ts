import { Readable } from 'node:stream'
import { setTimeout } from 'node:timers/promises'
import type { FastifyReply } from 'fastify'
import fp from 'fastify-plugin'
import { Problem } from '#src/http/problems.ts'

/** What is to be told; after the last one the stream ends. */
export type StreamedEvent = { name: string; data: object; isLast: boolean }

declare module 'fastify' {
  interface FastifyReply {
    /**
     * Answers with server-sent events: what `read` finds, once a second until it says that it is
     * the last. A stream ends after half a minute at the latest, or when the server stops; a browser
     * comes again by itself, and is judged again.
     * @param owner whose streams are counted together
     * @throws Refusal when there are too many already
     */
    streamEvents(owner: string, read: () => Promise<StreamedEvent>): FastifyReply
  }
}

type Limits = { perOwner?: number; inAll?: number; reads?: number; pauseMs?: number }

const retryAfterSeconds = 5

/** Live parts of pages, bounded in time and number. */
export default fp<Limits>(
  async function eventStream(app, { perOwner = 8, inAll = 200, reads = 30, pauseMs = 1_000 }) {
    const open = new Set<{ owner: string }>()
    const stopping = new AbortController()

    app.decorateReply('streamEvents', function streamEvents(owner, read): FastifyReply {
      const own = [...open].filter((one) => one.owner === owner)
      if (own.length >= perOwner) throw new Problem('too-many-requests', { retryAfterSeconds })
      if (open.size >= inAll) throw new Problem('unavailable', { retryAfterSeconds })
      const place = { owner }
      open.add(place)
      const stream = Readable.from(follow(read)).once('close', () => open.delete(place))
      return this.header('content-type', 'text/event-stream')
        .header('cache-control', 'no-store')
        .header('x-accel-buffering', 'no') // a proxy would hold the lines back
        .header('connection', 'close') // or a stop would wait for the browser to let go
        .send(stream)
    })

    async function* follow(read: () => Promise<StreamedEvent>): AsyncGenerator<string> {
      for (let made = 0; made < reads; made += 1) {
        const { name, data, isLast } = await read()
        yield `event: ${name}\ndata: ${JSON.stringify(data)}\n\n`
        if (isLast || !(await pause())) return
      }
    }

    /** False when the server stops. */
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
