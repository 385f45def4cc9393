import { untilTrue } from '#test/support/database/until.ts'
import { type Answer, ask, type Instance } from './instance.ts'
import { signedEvent } from './load.ts'

export type Sent = {
  /** For test/billing/history.ts. */
  history: { acknowledged: Set<string>; sent: Set<string> }
  /** Every response so far. */
  answers: Answer[]
  /** How long the slowest of them took. */
  longestMs(): number
  /** Sends this event once more; true if it is acknowledged. */
  once(id: string): Promise<boolean>
  /** Sends new events, each until it is acknowledged, as a provider does. */
  all(count: number): Promise<void>
}

/** A billing provider that sends to one instance. */
export function createSender(
  instance: Pick<Instance, 'origin' | 'agent'>,
  noteOf: () => string = () => '',
): Sent {
  const history = { acknowledged: new Set<string>(), sent: new Set<string>() }
  const answers: Answer[] = []
  let longest = 0
  async function once(id: string): Promise<boolean> {
    history.sent.add(id)
    const begun = performance.now()
    const answer = await ask(instance, signedEvent(id, noteOf()))
    longest = Math.max(longest, performance.now() - begun)
    answers.push(answer)
    if (answer.status === 200) history.acknowledged.add(id)
    return answer.status === 200
  }
  return {
    history,
    answers,
    longestMs: () => Math.round(longest),
    once,
    async all(count) {
      for (let n = 0; n < count; n++) {
        const id = `evt_${crypto.randomUUID()}`
        await untilTrue(() => once(id))
      }
    },
  }
}

/** The responses that are neither a 200 nor a 503 with Retry-After. */
export function unexpected(answers: readonly Answer[]): Answer[] {
  return answers.filter(
    ({ status, headers }) =>
      status !== 200 && !(status === 503 && Number(headers['retry-after']) >= 1),
  )
}
