import { isSigned } from '#dev/demo/webhook-signature.ts'
import type { Clock } from '#src/runtime/clock.ts'
import { resultWithin } from '#src/runtime/timeout.ts'
import type { SignatureProfile } from '#src/webhooks/signing/signature.ts'
import type { Send } from './answers.ts'
import { newLine, type RecordedRequest, startReceiver } from './receiver.ts'

/** A webhook that the app has sent; its signature and the time of it are right. */
export type TestWebhook = {
  readonly headers: Readonly<Record<string, string | string[] | undefined>>
  /** The event: its `id`, `type`, `created` and `data`. */
  // biome-ignore lint/suspicious/noExplicitAny: a test knows what it expects
  readonly body: any
}

/** The receiver of one webhook endpoint; it answers 204. */
export type TestReceiver = {
  /** The endpoint, for requests about it. */
  readonly endpointId: string
  /**
   * The oldest webhook that `next` has not returned yet; waits for it if necessary.
   * @throws Error if none comes within half a minute, or it is not signed with the secret of the endpoint
   */
  next(): Promise<TestWebhook>
}

type Endpoint = {
  readonly id: string
  readonly secret: string
  readonly signature: SignatureProfile
}

const limitMs = 30_000

/** A server of this machine for the receivers of an app; the path of a request says whose it is. */
export async function startReceivers() {
  const server = await startReceiver()
  const lines = new Map<string, ReturnType<typeof newLine<RecordedRequest>>>()
  server.respond((request, response) => {
    const line = lines.get(request.url)
    response.writeHead(line === undefined ? 404 : 204).end()
    line?.add(request)
  })
  return {
    /** For OUTBOUND_ALLOW. */
    hostAndPort: `127.0.0.1:${server.port}`,
    close: server.close,
    /** Creates an endpoint of the tenant of `send`, which may create one. @param eventTypes by default all */
    async add(send: Send, eventTypes: readonly string[] | undefined, clock: Clock) {
      const path = `/${crypto.randomUUID()}`
      const line = newLine<RecordedRequest>()
      lines.set(path, line)
      const made = await send('POST', '/webhook-endpoints', {
        url: server.url + path,
        ...(eventTypes && { eventTypes }),
      })
      if (made.status !== 201) {
        throw new Error(`The endpoint was not created: ${made.status} ${JSON.stringify(made.body)}`)
      }
      return receiverOf(made.body, line.next, clock)
    },
  }
}

function receiverOf(
  { id, secret, signature: profile }: Endpoint,
  next: () => Promise<RecordedRequest>,
  clock: Clock,
): TestReceiver {
  return {
    endpointId: id,
    async next() {
      const request = await resultWithin(limitMs, next())
      if (request === null) throw new Error('No webhook came within 30 seconds.')
      const { headers } = request
      const body = request.body.toString()
      if (!isSigned({ headers, body }, { secret, profile, clock })) {
        throw new Error(`The webhook ${headers['webhook-id']} is not signed as its endpoint says.`)
      }
      return { headers, body: JSON.parse(body) }
    },
  }
}
