import { readFile, rename, writeFile } from 'node:fs/promises'
import { setTimeout as pause } from 'node:timers/promises'
import { OperatorError } from '#src/runtime/operator-error.ts'
import { newEndpointSecret, signDelivery } from '#src/webhooks/signing/signature.ts'
import { openApi } from '../api/api-client.ts'
import type { Sources } from '../kit/environment.ts'
import { reasonOf } from '../kit/error-message.ts'
import { print, printMessage } from '../kit/output.ts'
import { type FeedEvent, type FeedPosition, readFeed } from './event-feed.ts'

type Options = {
  /** http or https. */
  readonly forwardTo: string
  readonly type?: string
  /** RFC 3339. */
  readonly from?: string
  readonly state?: string
  readonly signature: 'spec' | 'standard' | 'both'
  readonly json?: true
}

type Forwarded = { id: string; type: string; status: number; ms: number; text: string }

const deadlineMs = 30_000
const waitMs = 1_000
const shownLength = 200
// What is sent again if the command ends between a response and the next position.
const pageLimit = 10

/**
 * `gatehouse listen`: sends the tenant's events to a local program as deliveries send them, signed.
 * Every response counts, whatever its status; a program that does not respond is waited for.
 */
export default async function listen(sources: Sources, options: Options): Promise<void> {
  const { forwardTo, type, from, state, json } = options
  const { api, baseUrl } = await openApi(sources)
  const given = sources.env.GATEHOUSE_LISTEN_SECRET?.trim()
  const secret = given || newEndpointSecret()
  const kept = state === undefined ? null : await readState(state, baseUrl)
  const begin = kept ?? { from: from ?? new Date().toISOString(), after: null }
  printMessage(`Events of ${baseUrl} since ${begin.from} go to ${forwardTo}.`)
  if (!given)
    printMessage(`They are signed with ${secret} (set GATEHOUSE_LISTEN_SECRET to keep it).`)
  const feed = readFeed(api, begin, {
    follow: true,
    limit: pageLimit,
    ...(type !== undefined && { type }),
  })
  for await (const { events, position } of feed) {
    for (const event of events) {
      const { status, ms, text } = await forward(event, { ...options, secret })
      if (json) print(JSON.stringify({ id: event.id, type: event.type, status, ms, text }))
      else print(line({ ...event, status, ms, text }))
    }
    if (state !== undefined) await writeState(state, { url: baseUrl, ...position })
  }
}

function line({ id, type, status, ms, text }: Forwarded): string {
  const isSuccess = status >= 200 && status < 300
  const answer = isSuccess || text === '' ? '' : `  ${JSON.stringify(text)}`
  return `${type}  ${id}  ${status} in ${ms} ms${answer}`
}

/** Resolves with the response; while there is none, the same event is sent again. */
async function forward(
  event: FeedEvent,
  {
    forwardTo,
    signature: profile,
    secret,
  }: Pick<Options, 'forwardTo' | 'signature'> & {
    secret: string
  },
): Promise<{ status: number; ms: number; text: string }> {
  const { id } = event
  const body = JSON.stringify(event)
  for (let isFirst = true; ; isFirst = false) {
    const timestamp = Math.floor(Date.now() / 1000)
    const signature = signDelivery({ profile, secrets: [secret], id, timestamp, body })
    const begun = performance.now()
    try {
      const response = await fetch(forwardTo, {
        method: 'POST',
        headers: {
          'content-type': 'application/json',
          'webhook-id': id,
          'webhook-timestamp': String(timestamp),
          'webhook-signature': signature,
        },
        body,
        redirect: 'manual',
        signal: AbortSignal.timeout(deadlineMs),
      })
      const text = (await response.text()).slice(0, shownLength)
      return { status: response.status, ms: Math.round(performance.now() - begun), text }
    } catch (error) {
      if (isFirst)
        printMessage(`${forwardTo} does not respond: ${reasonOf(error)}. Waiting for it.`)
      await pause(waitMs)
    }
  }
}

type State = FeedPosition & { url: string }

/** @returns null if the file does not exist */
async function readState(file: string, url: string): Promise<FeedPosition | null> {
  const text = await readFile(file, 'utf8').catch((error) => {
    if (error.code === 'ENOENT') return null
    throw new OperatorError(`${file} cannot be read: ${error.message}.`, 'Choose another file.')
  })
  if (text === null) return null
  const state = parseState(text)
  if (state === null) {
    throw new OperatorError(`${file} is no state of this command.`, 'Choose another file.')
  }
  if (state.url !== url) {
    throw new OperatorError(`${file} belongs to ${state.url}.`, 'Choose another file.')
  }
  return { from: state.from, after: state.after }
}

function parseState(text: string): State | null {
  try {
    const { url, from, after } = Object(JSON.parse(text))
    const isState =
      typeof url === 'string' &&
      typeof from === 'string' &&
      (after === null || typeof after === 'string')
    return isState ? { url, from, after } : null
  } catch {
    return null
  }
}

/** A crash leaves the old state or the new one. */
async function writeState(file: string, state: State): Promise<void> {
  await writeFile(`${file}.new`, `${JSON.stringify(state)}\n`, { mode: 0o600 })
  await rename(`${file}.new`, file)
}
