import { execFile } from 'node:child_process'
import { once } from 'node:events'
import { writeFile } from 'node:fs/promises'
import { createServer, type IncomingMessage } from 'node:http'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { promisify } from 'node:util'
import t, { type Test } from 'tap'
import { samplesOf } from '#src/pages/docs/samples.ts'
import { findProgram } from '#test/support/processes/find-program.ts'

/* Carries out the samples of the reference: what arrives has to be the request that the reader is shown. */

const run = promisify(execFile)

/** How a sample is run, and a module beyond the standard library that it needs. */
const languages: Readonly<
  Record<string, { file: string; program: string | null; before?: string[]; needs?: string[] }>
> = {
  curl: { file: 'sample.sh', program: findProgram('curl') && findProgram('sh') },
  JavaScript: { file: 'sample.mjs', program: process.execPath },
  Python: {
    file: 'sample.py',
    program: findProgram('python3'),
    needs: ['-c', 'import requests'],
  },
  Go: { file: 'sample.go', program: findProgram('go'), before: ['run'] },
  PHP: {
    file: 'sample.php',
    program: findProgram('php'),
    needs: ['-r', 'exit(function_exists("curl_init") ? 0 : 1);'],
  },
}

/** Everything that a literal of one of the languages could change. */
const body = {
  text: `it's "quoted", $HOME \\ \`ticks\` {{x}} #{y} <é> 日本\nJSON\nnext`,
  flags: [true, false, null],
  nested: { none: null, empty: {}, list: [], number: 4_900, 'a: true': ': null' },
}

const operations = {
  'a read': { method: 'GET', path: '/orders/{id}', requestBody: undefined },
  'a creation': {
    method: 'POST',
    path: '/orders',
    requestBody: { content: { 'application/json': { schema: {}, example: body } } },
  },
  'a change without a body': { method: 'DELETE', path: '/orders/{id}', requestBody: undefined },
}

/** Answers every request, and remembers the latest. */
async function listen(t: Test) {
  let seen: { method?: string; url?: string; headers: IncomingMessage['headers']; body: string }
  const server = createServer(async (request, response) => {
    const { method, url, headers } = request
    seen = { ...(method && { method }), ...(url && { url }), headers, body: await text(request) }
    response.end('answered')
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.teardown(() => server.close())
  const address = server.address()
  if (address === null || typeof address === 'string') throw new Error('The server has no port.')
  return { url: `http://127.0.0.1:${address.port}`, latest: () => seen }
}

/** Why the samples cannot be carried out here; false if they can. */
async function reasonToSkip(language: string): Promise<string | false> {
  const { program, needs } = languages[language] ?? { program: null }
  if (program === null) return `${language} is not installed`
  if (needs === undefined) return false
  return run(program, needs).then(
    () => false,
    () => `${language} lacks a module: ${needs.join(' ')}`,
  )
}

for (const language of Object.keys(languages)) {
  const skip = await reasonToSkip(language)
  t.test(`${language}: each sample sends the request that it shows`, { skip }, async (t) => {
    const server = await listen(t)
    const folder = t.testdir()
    const { file, program, before = [] } = languages[language] ?? {}
    for (const [name, { method, path, requestBody }] of Object.entries(operations)) {
      const operation = {
        security: [{ token: [] }],
        parameters: [{ name: 'id', in: 'path', example: '7', schema: {} }],
        ...(requestBody && { requestBody }),
        responses: {},
      }
      const samples = samplesOf({ method, path, operation }, server.url)
      const code = samples.find((one) => one.language === language)?.code ?? ''
      const at = join(folder, file ?? '')
      // A header has no characters beyond Latin-1.
      await writeFile(at, code.replace('gth_…', 'gth_secret'))
      const settings = { GO111MODULE: 'off', GOTOOLCHAIN: 'local' } // no downloads
      const env = { ...process.env, ...settings }
      const { stdout } = await run(program ?? '', [...before, at], { env })
      t.match(stdout, 'answered', `${name} prints the response`)
      const seen = server.latest()
      t.match(seen, { method, url: path.replace('{id}', '7') }, name)
      t.equal(seen.headers.authorization, 'Bearer gth_secret', name)
      if (requestBody === undefined) t.equal(seen.body, '', name)
      else {
        t.match(seen.headers['content-type'], 'application/json', name)
        t.strictSame(JSON.parse(seen.body), body, name)
      }
    }
  })
}

t.test('every language of the reference is carried out', async (t) => {
  const operation = { security: [{ token: [] }], responses: {} }
  const samples = samplesOf({ method: 'GET', path: '/me', operation }, 'https://api.example')
  t.strictSame(
    samples.map(({ language }) => language),
    Object.keys(languages),
  )
})
