import type { FastifyReply, FastifyRequest, RouteOptions } from 'fastify'
import fp from 'fastify-plugin'
import Type from 'typebox'
import type { Submitter } from '#src/access/caller.ts'
import type { EncryptionKeys } from '#src/crypto/encryption.ts'
import type { Tx } from '#src/db/database.ts'
import type { Entry } from '#src/db/entry.ts'
import { runOnce } from '#src/db/idempotency.ts'
import { VisibleAscii, withHeader, withProblems } from '#src/http/schemas.ts'
import { type FormResult, submitOnce } from '#src/pages/kit/form-submission.ts'

declare module 'fastify' {
  interface FastifyContextConfig {
    /**
     * Whether an Idempotency-Key makes the one write of the route happen once. Every operation that
     * creates or changes an object states it.
     */
    idempotencyKey?: boolean
  }
  interface FastifyRequest {
    /** For the entries of a request with an Idempotency-Key. */
    readonly once: Entry<unknown>['once']
    isReplayed: boolean
    /** `submitOnce` with the form of the request. */
    submitOnce<Result extends FormResult | null>(
      tx: Tx,
      submitter: Submitter,
      work: () => Promise<Result>,
    ): Promise<string | Extract<Result, null>>
  }
}

const header = 'idempotency-key'

const Header = Type.String({
  ...VisibleAscii(255),
  description:
    'A text of your choice, such as a UUID, that names this request. Sent again within 24 hours, the request has no second effect and gets the first response, with `Idempotent-Replayed: true`; 409 if that was larger than 16 KiB besides what the request itself contains. 1 to 255 visible ASCII characters.',
})
/**
 * `Idempotency-Key`: a request that a client sends again, because it does not know what became of the
 * first, has one effect and one response. The key is kept in the transaction of the write, for the
 * person or service who sent it.
 */
export default fp<{ keys: EncryptionKeys }>(
  async function idempotency(app, { keys }) {
    app.decorateRequest('isReplayed', false)
    app.decorateRequest('once', {
      getter(): Entry<unknown>['once'] {
        const key = this.headers[header]
        if (typeof key !== 'string' || this.routeOptions.config.idempotencyKey !== true) return
        return (connection, work) => {
          const by = this.enteredCaller
          if (by === null) throw new Error('The request has not entered yet.')
          const asked = [this.method, this.url, this.body]
          return runOnce(connection, { by, key, asked }, keys, work, () => {
            this.isReplayed = true
          })
        }
      },
    })
    app.decorateRequest('submitOnce', function (tx, submitter, work) {
      return submitOnce(tx, submitter, this, keys, work)
    })
    app.addHook('onRoute', describeKey)
  },
  { name: 'idempotency', fastify: '5.x' },
)

/** @throws if an operation that creates or changes an object does not state whether it takes a key */
function describeKey(route: RouteOptions): void {
  const { config, schema, method, url } = route
  if (schema === undefined || schema.hide || typeof config?.access !== 'object') return
  const creates = method === 'POST' && ['create', 'replay'].includes(config.access.action)
  if ((creates || method === 'PATCH') && config.idempotencyKey === undefined) {
    throw new Error(`${method} ${url} does not state config.idempotencyKey.`)
  }
  if (config.idempotencyKey !== true) return
  schema.headers = withHeader(schema.headers, header, Header)
  schema.response = withProblems(Object(schema.response), 'conflict', 422)
  route.onSend = [...[route.onSend ?? []].flat(), tellReplay]
}

async function tellReplay(request: FastifyRequest, reply: FastifyReply): Promise<void> {
  if (request.isReplayed && reply.statusCode < 300) reply.header('idempotent-replayed', 'true')
}
