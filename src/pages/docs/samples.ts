import type { Operation } from '#src/http/openapi/examples.ts'
import type { Entry } from './operations.ts'

/** A request of the operation in the languages that most people use. */
export type Sample = { language: string; code: string }

type Call = {
  method: string
  url: string
  /** Header names and values. */
  headers: [string, string][]
  /** The example of the body; undefined without one. */
  body: unknown
}

/** Samples of a request. A session belongs to a browser, so operations that need it have curl alone. */
export function samplesOf({ path, method, operation }: Entry, baseUrl: string): Sample[] {
  const { parameters = [], requestBody } = operation
  const inPath = parameters.filter((one) => one.in === 'path')
  const filled = inPath.reduce(
    (url, { name, example }) => url.replace(`{${name}}`, encodeURIComponent(String(example))),
    path,
  )
  const body = requestBody?.content['application/json']?.example
  const call: Call = {
    method,
    url: `${baseUrl}${filled}`,
    headers: [
      ...(takesToken(operation) ? [['Authorization', 'Bearer gth_…'] as [string, string]] : []),
      ...(body === undefined ? [] : [['Content-Type', 'application/json'] as [string, string]]),
    ],
    body,
  }
  const curl = { language: 'curl', code: inCurl(call, needsSession(operation)) }
  if (!takesToken(operation)) return [curl]
  return [
    curl,
    { language: 'JavaScript', code: inJavaScript(call) },
    { language: 'Python', code: inPython(call) },
  ]
}

export function takesToken({ security = [] }: Operation): boolean {
  return security.some((one) => 'token' in one)
}

/** True for an operation that takes a session, and no token. */
export function needsSession(operation: Operation): boolean {
  const { security = [] } = operation
  return security.some((one) => 'session' in one) && !takesToken(operation)
}

function inCurl({ method, url, headers, body }: Call, withSession: boolean): string {
  const lines = [
    `curl${method === 'GET' ? '' : ` -X ${method}`} ${url}`,
    ...(withSession ? [`--cookie "sid=…"`] : []),
    ...headers.map(([name, value]) => `-H "${name}: ${value}"`),
    ...(body === undefined
      ? []
      : [`-d '${JSON.stringify(body, null, 2).replaceAll("'", "'\\''")}'`]),
  ]
  return lines.join(' \\\n  ')
}

function inJavaScript({ method, url, headers, body }: Call): string {
  const options = [
    ...(method === 'GET' ? [] : [`  method: '${method}',`]),
    '  headers: {',
    ...headers.map(
      ([name, value]) => `    ${name.includes('-') ? `'${name}'` : name}: '${value}',`,
    ),
    '  },',
    ...(body === undefined ? [] : [`  body: JSON.stringify(${indented(body)}),`]),
  ]
  return [
    `const response = await fetch('${url}', {`,
    ...options,
    '})',
    'console.log(response.status, await response.text())',
  ].join('\n')
}

function inPython({ method, url, headers, body }: Call): string {
  const sent = headers.filter(([name]) => name !== 'Content-Type')
  const words = { true: 'True', false: 'False', null: 'None' }
  const literal =
    body === undefined
      ? undefined
      : indented(body, 4).replaceAll(
          /(?<=[:[] ?|^\s*)(true|false|null)(?=,?$)/gm,
          (word) => words[word as keyof typeof words],
        )
  return [
    'import requests',
    '',
    `response = requests.${method.toLowerCase()}(`,
    `    "${url}",`,
    `    headers={${sent.map(([name, value]) => `"${name}": "${value}"`).join(', ')}},`,
    ...(literal === undefined ? [] : [`    json=${literal},`]),
    ')',
    'print(response.status_code, response.text)',
  ].join('\n')
}

/** JSON whose lines after the first are indented like the line it starts on. */
function indented(value: unknown, spaces = 2): string {
  return JSON.stringify(value, null, 2).replaceAll('\n', `\n${' '.repeat(spaces)}`)
}
