import type { Operation } from '#src/http/openapi/examples.ts'
import { copyable, type Html, html } from '#src/pages/kit/html.ts'
import { readTextAssetSync } from '#src/runtime/assets.ts'
import type { Entry } from './operations.ts'

/** A request of the operation in the languages that most people use. */
export type Sample = { language: string; code: string }

/** The programs of docs/verifying-webhooks, which verify a delivery. */
export const verifiers = {
  JavaScript: 'verify.mjs',
  Python: 'verify.py',
  Go: 'verify.go',
  PHP: 'verify.php',
  Ruby: 'verify.rb',
} as const

/** The program of each language that verifies a delivery, whole. */
export function verifierSamples(): Sample[] {
  return Object.entries(verifiers).map(([language, file]) => ({
    language,
    code: readTextAssetSync(`docs/verifying-webhooks/${file}`),
  }))
}

/** Samples of one thing, of which one is open at a time. @param id of the thing, unique on the page */
export function sampleList(id: string, samples: readonly Sample[]): Html {
  return html`${samples.map(
    (
      { language, code },
      index,
    ) => html`<details name="sample-${id}"${index === 0 ? html` open` : ''}>
            <summary>${language}</summary>
            ${copyable(`${language}-${id}`, `${language} sample`, 'example', code)}
          </details>`,
  )}`
}

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
  const others = Object.entries(writers).map(([language, write]) => ({
    language,
    code: write(call),
  }))
  return [curl, ...others]
}

const writers: Readonly<Record<string, (call: Call) => string>> = {
  JavaScript: inJavaScript,
  Python: inPython,
  Go: inGo,
  PHP: inPhp,
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

function inGo({ method, url, headers, body }: Call): string {
  const json = body === undefined ? null : JSON.stringify(body, null, 2)
  const sent =
    json === null ? 'nil' : `strings.NewReader(\`${json.replaceAll('`', '` + "`" + `')}\`)`
  const packages = ['fmt', 'io', 'log', 'net/http', ...(json === null ? [] : ['strings'])]
  return [
    'package main',
    '',
    'import (',
    ...packages.map((name) => `\t"${name}"`),
    ')',
    '',
    'func main() {',
    `\trequest, err := http.NewRequest("${method}", "${url}", ${sent})`,
    ...stopInGo,
    ...headers.map(([name, value]) => `\trequest.Header.Set("${name}", "${value}")`),
    '\tresponse, err := http.DefaultClient.Do(request)',
    ...stopInGo,
    '\tdefer response.Body.Close()',
    '\ttext, err := io.ReadAll(response.Body)',
    ...stopInGo,
    '\tfmt.Println(response.StatusCode, string(text))',
    '}',
  ].join('\n')
}

const stopInGo = ['\tif err != nil {', '\t\tlog.Fatal(err)', '\t}']

function inPhp({ method, url, headers, body }: Call): string {
  // No line of JSON can be the closing word, because each begins with a bracket, a quote or a number.
  const json = body === undefined ? [] : ["<<<'JSON'", JSON.stringify(body, null, 2), 'JSON']
  return [
    '<?php',
    `$request = curl_init('${url}');`,
    'curl_setopt_array($request, [',
    `    CURLOPT_CUSTOMREQUEST => '${method}',`,
    `    CURLOPT_HTTPHEADER => [${headers.map(([name, value]) => `'${name}: ${value}'`).join(', ')}],`,
    ...(json.length === 0 ? [] : [`    CURLOPT_POSTFIELDS => ${json.join('\n')},`]),
    '    CURLOPT_RETURNTRANSFER => true,',
    ']);',
    '$text = curl_exec($request);',
    "echo curl_getinfo($request, CURLINFO_RESPONSE_CODE), ' ', $text, PHP_EOL;",
  ].join('\n')
}

/** JSON whose lines after the first are indented like the line it starts on. */
function indented(value: unknown, spaces = 2): string {
  return JSON.stringify(value, null, 2).replaceAll('\n', `\n${' '.repeat(spaces)}`)
}
