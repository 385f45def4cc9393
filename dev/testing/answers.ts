type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'

/** An answer of the app; `body` is what its JSON says, or the text of a page. */
export type TestAnswer = {
  readonly status: number
  readonly headers: Readonly<Record<string, number | string | string[] | undefined>>
  // biome-ignore lint/suspicious/noExplicitAny: a test knows what it expects
  readonly body: any
}

/** Sends a request to the app in this process; `body` is sent as JSON. */
export type Send = (
  method: Method,
  path: string,
  body?: object,
  headers?: Record<string, string>,
) => Promise<TestAnswer>

/** An answer as tests of apps see it. */
export function answerOf({
  statusCode: status,
  headers,
  body,
}: {
  statusCode: number
  headers: TestAnswer['headers']
  body: string
}): TestAnswer {
  const isJson = /^application\/([a-z.]+\+)?json/.test(String(headers['content-type'] ?? ''))
  return { status, headers, body: isJson ? JSON.parse(body) : body }
}

/** What `create` of a person does, with their requests. */
export function createWith(send: Send) {
  return async (path: string, body?: object): Promise<TestAnswer['body']> => {
    const { status, body: row } = await send('POST', path, body)
    if (status < 300) return row
    const reason = JSON.stringify(row.errors ?? row.detail ?? row)
    throw new Error(`POST ${path} got ${status}: ${reason}`)
  }
}
