import createFetchClient, { type Client, type FetchOptions } from 'openapi-fetch'
import { ApiError } from './api-error.ts'
import type { components, paths } from './generated/api.ts'
import { keyedOperations } from './generated/keyed-operations.ts'
import { type RetryOptions, withRetries } from './retries.ts'

/** The types of the API's objects: `Schemas['Order']`. */
export type Schemas = components['schemas']

/** Where the API is, and with which token to ask. */
export type GatehouseOptions = {
  /** Origin of the server, such as `https://gatehouse.example.com`. */
  baseUrl: string
  /** An API token, `gth_…`, or a service token, `gths_…`. */
  token?: string
  headers?: Readonly<Record<string, string>>
  retries?: RetryOptions
  /** Sends one attempt; the global `fetch` by default. */
  fetch?: (request: Request) => Promise<Response>
}

/**
 * A client of the API. `GET`, `POST` and the other methods are those of openapi-fetch: they take a path
 * of the API description, resolve to `{ data, error, response }`, and reject only if there was no
 * response. A POST that creates something has an `Idempotency-Key`, so that it can be retried.
 */
export function createClient({
  baseUrl,
  token,
  headers,
  retries,
  fetch: send,
}: GatehouseOptions): GatehouseClient {
  const client = createFetchClient<paths>({
    baseUrl,
    fetch: withRetries(send ?? ((request) => fetch(request)), retries),
    headers: { ...headers, ...(token !== undefined && { authorization: `Bearer ${token}` }) },
  })
  client.use({
    onRequest({ request, schemaPath }) {
      const takesKey = keyedOperations.has(`${request.method} ${schemaPath}`)
      if (takesKey && !request.headers.has(keyHeader)) {
        request.headers.set(keyHeader, crypto.randomUUID())
      }
    },
  })
  // The types of `pages` allow only lists, and every list responds like this.
  const getPage = client.GET as unknown as GetPage

  async function* pages<Path extends ListPath>(
    path: Path,
    ...[init]: ListArguments<Path>
  ): AsyncGenerator<Page<Path>, void, undefined> {
    const asked: { params?: { query?: object } } = init ?? {}
    const cursorName = path === '/events' ? 'after' : 'cursor'
    let cursor: object = {}
    for (;;) {
      const query = { ...asked.params?.query, ...cursor }
      const result = await getPage(path, { ...asked, params: { ...asked.params, query } })
      const page = unwrap<PageOf<Item<Path>>>(result)
      yield page
      if (page.nextCursor === null) return
      cursor = { [cursorName]: page.nextCursor }
    }
  }

  async function* list<Path extends ListPath>(
    path: Path,
    ...init: ListArguments<Path>
  ): AsyncGenerator<Item<Path>, void, undefined> {
    for await (const { data } of pages(path, ...init)) yield* data
  }

  return { ...client, pages, list }
}

/**
 * The type is written out because what TypeScript infers names each method of openapi-fetch with the
 * generated paths, which a project that checks the declarations of its packages refuses.
 */
export type GatehouseClient = Client<paths> & {
  /**
   * The pages of a list, each with the cursor that continues after it.
   * @throws ApiError if the response is an error
   */
  pages<Path extends ListPath>(
    path: Path,
    ...init: ListArguments<Path>
  ): AsyncGenerator<Page<Path>, void, undefined>
  /**
   * The items of a list, read page by page; `limit` is the number of items of a page.
   * @throws ApiError if the response is an error
   */
  list<Path extends ListPath>(
    path: Path,
    ...init: ListArguments<Path>
  ): AsyncGenerator<Item<Path>, void, undefined>
}

/**
 * The data of a response.
 * @throws ApiError if the response is an error
 */
export function unwrap<Data>({ data, error, response }: Result<Data>): Data {
  if (!response.ok) throw new ApiError(response, error)
  return data as Data // only an error has none
}

type Result<Data> = { data?: Data; error?: unknown; response: Response }

const keyHeader = 'idempotency-key'

type GetPage = (path: string, init: object) => Promise<Result<never>>

type PageOf<One> = { data: One[]; nextCursor: string | null }

type Reads<Path extends keyof paths> = paths[Path] extends { get: infer Operation }
  ? Operation
  : never

type Body<Path extends keyof paths> =
  Reads<Path> extends {
    responses: { 200: { content: { 'application/json': infer One } } }
  }
    ? One
    : never

/** The paths of all lists, and of the feed of events. */
export type ListPath = {
  [Path in keyof paths]: [Body<Path>] extends [never]
    ? never
    : Body<Path> extends PageOf<unknown>
      ? Path
      : never
}[keyof paths]

/** One item of a list. */
export type Item<Path extends ListPath> = Body<Path> extends PageOf<infer One> ? One : never

/** One page of a list. The cursor is null after the last item. */
export type Page<Path extends ListPath> = PageOf<Item<Path>>

/** `params` with filters, order and `limit`; required for a list below an object, whose id it has. */
type ListArguments<Path extends ListPath> =
  FetchOptions<Reads<Path>> extends infer Init
    ? object extends Init
      ? [init?: Init]
      : [init: Init]
    : never
