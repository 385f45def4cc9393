import type { FastifyInstance, FastifyReply, FastifyRequest, RouteOptions } from 'fastify'
import fp from 'fastify-plugin'
import Type, { type Static, type TSchema } from 'typebox'
import type { Submitter } from '#src/access/caller.ts'
import { type Action, type ActionInput, refusalOf } from '#src/actions/action.ts'
import type { Tx } from '#src/db/database.ts'
import type { Entry } from '#src/db/entry.ts'
import { type ErrorCode, errorTable, Problem } from '#src/http/problems.ts'
import type { FormResult, ShownSecret } from '#src/pages/kit/form-submission.ts'
import type { Page } from '#src/pages/kit/layout.ts'

/** How a page has an action: what its form sends, and which page shows the result. */
export type FormRoute<C, Body extends TSchema, Fields extends TSchema, Path extends TSchema> = {
  entryOf(request: FastifyRequest): Entry<C>
  /** What the form sends. With the field `submission`, the same form has one effect. */
  readonly fields?: Fields
  /** The parameters of the path, if they are not those of the action. */
  readonly params?: Path
  /** Makes the body of the action; by default it is the fields of the form. */
  read?(sent: { fields: Static<Fields>; params: Static<Path>; now: Date }): Static<Body>
  /** The page that shows the result, below the prefix of the scope; `:id` is the `id` of the result. */
  readonly to: string
  /** What the page says was done. */
  readonly notice?: string
  /** The secret that the page shows once. Only for a form with the field `submission`. */
  secret?(result: object): ShownSecret
  /** Sends the page of the form again; without it, a refusal is an error page. */
  again?(
    request: FastifyRequest<{ Params: Static<Path>; Body: Static<Fields> }>,
    reply: FastifyReply,
    problem: Problem,
  ): Promise<FastifyReply>
}

/** The same for a form with a page of its own, which shows it again if it was refused. */
export type FormPageRoute<
  C,
  Body extends TSchema,
  Fields extends TSchema,
  Path extends TSchema,
> = Omit<FormRoute<C, Body, Fields, Path>, 'again'> & {
  /** Enters, and makes the page of the form. */
  page(request: FastifyRequest): Promise<Page>
}

declare module 'fastify' {
  interface FastifyInstance {
    /** Registers the route of a form for an action in this scope, whose guards apply to it. */
    form<
      Caller extends Submitter,
      Params extends TSchema,
      Body extends TSchema,
      Query extends TSchema,
      Fields extends TSchema = TSchema,
      Path extends TSchema = Params,
    >(
      path: `/${string}`,
      action: Action<NoInfer<Caller>, Params, Body, Query>,
      route: FormRoute<Caller, Body, Fields, Path>,
    ): void
    /** Registers a form and its page, both at the path. Who may not do the action cannot open the page. */
    formPage<
      Caller extends Submitter,
      Params extends TSchema,
      Body extends TSchema,
      Query extends TSchema,
      Fields extends TSchema = TSchema,
      Path extends TSchema = Params,
    >(
      path: `/${string}`,
      action: Action<NoInfer<Caller>, Params, Body, Query>,
      route: FormPageRoute<Caller, Body, Fields, Path>,
    ): void
  }
}

/** Refusals that the person can do something about in the form. */
const correctable: ReadonlySet<ErrorCode> = new Set(['conflict', 'malformed'])

/** `app.form`: the adapter from a declared action to the form of a page. It knows no action. */
export default fp(
  async function forms(app) {
    app.decorate('form', function (path, action, route) {
      this.route(routeOf(this, path, action, route))
    })
    app.decorate('formPage', function (path, action, { page, ...route }) {
      const send = async (request: FastifyRequest, reply: FastifyReply) =>
        reply.sendPage(await page(request))
      this.get(path, { config: { access: action.rule }, schema: { hide: true } }, send)
      this.form(path, action, {
        ...route,
        async again(request, reply, problem) {
          request.showAgain(Object(request.body), problem)
          return send(request as never, reply)
        },
      })
    })
  },
  { name: 'forms', fastify: '5.x', dependencies: ['idempotency', 'pages'] },
)

function routeOf<
  Caller extends Submitter,
  Params extends TSchema,
  Body extends TSchema,
  Fields extends TSchema,
  Path extends TSchema,
>(
  app: FastifyInstance,
  url: string,
  action: Action<Caller, Params, Body>,
  route: FormRoute<Caller, Body, Fields, Path>,
): RouteOptions {
  const { fields, entryOf, again } = route
  const isOnce = namesOf(fields).includes('submission')
  if (route.secret && !isOnce) throw new Error(`${url} shows a secret, but has no submission.`)
  const params = route.params ?? paramsOf(url, action.params)
  return {
    method: 'POST',
    url,
    config: { access: action.rule },
    schema: { hide: true, params, ...(fields && { body: fields }) },
    async handler(request, reply) {
      const now = app.clock.now()
      const outside = { readUrl: (text: string) => app.readCustomerUrl(text, request.log) }
      let refusal = ''
      try {
        const given = inputOf(request, action, route, now)
        const { prepare } = action
        const input = prepare ? { ...given, body: await prepare(given.body, outside) } : given
        const work = async (tx: Tx, caller: Caller): Promise<FormResult | null> => {
          const by = { ...caller, clientInfo: request.clientInfo }
          const result = await action.run({ tx, by, now }, input)
          // Thrown in the transaction, so a form about a missing object leaves no key behind.
          if (result === null || result === false) throw new Problem('not-found')
          if (typeof result !== 'string') return shownAt(app, route, Object(result))
          refusal = result
          return null
        }
        const location = await app.db.write(entryOf(request), async (tx, caller) => {
          if (isOnce) return request.submitOnce(tx, caller, () => work(tx, caller))
          return (await work(tx, caller))?.path ?? null
        })
        // What the action recorded about its refusal is committed.
        if (location === null) throw refusalOf(action, refusal)
        return reply.redirect(location, 303)
      } catch (error) {
        if (!again || !(error instanceof Problem) || !correctable.has(error.code)) throw error
        return again(request as never, reply.code(errorTable[error.code].status), error)
      }
    },
  }
}

const namesOf = (schema?: TSchema) => Object.keys(Object(schema).properties ?? {})

/** Those parameters of the action that the path names; a form sends the others as fields. */
function paramsOf(url: string, schema: TSchema | undefined): TSchema {
  const names = [...url.matchAll(/:(\w+)/g)].map(([, name = '']) => name)
  const properties = names.map((name) => [name, Object(schema).properties[name]])
  return Type.Object(Object.fromEntries(properties), { additionalProperties: false })
}

function inputOf<Caller, Params extends TSchema, Body extends TSchema, Fields extends TSchema>(
  request: FastifyRequest,
  { params: named }: Pick<Action<Caller, Params>, 'params'>,
  { read }: FormRoute<Caller, Body, Fields, TSchema>,
  now: Date,
) {
  const params = Object(request.params)
  const { submission: _, confirm: _confirm, ...fields } = Object(request.body)
  return {
    params: Object.fromEntries(namesOf(named).map((name) => [name, params[name] ?? fields[name]])),
    body: read ? read({ fields, params, now }) : fields,
  } as ActionInput<Params, Body>
}

function shownAt<Caller>(
  app: FastifyInstance,
  { to, notice, secret }: FormRoute<Caller, TSchema, TSchema, TSchema>,
  result: object,
): FormResult {
  const path = to.replaceAll(/:(\w+)/g, (_, name) => encodeURIComponent(Object(result)[name]))
  const query = notice === undefined ? '' : `?done=${notice}`
  return { path: `${app.prefix}${path}${query}`, ...(secret && { secret: secret(result) }) }
}
