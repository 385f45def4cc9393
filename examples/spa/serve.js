import { readFile } from 'node:fs/promises'
import { createServer } from 'node:http'

/* Serves the page as a static host would, with the address of Gatehouse in config.js. */

const { PORT = '5173', GATEHOUSE_URL = 'http://localhost:3000' } = process.env
const policy = `default-src 'none'; script-src 'self'; style-src 'unsafe-inline'; connect-src ${GATEHOUSE_URL}; base-uri 'none'; form-action 'none'; frame-ancestors 'none'`
const types = { html: 'text/html; charset=utf-8', js: 'text/javascript; charset=utf-8' }
const files = {
  '/': await readFile(new URL('index.html', import.meta.url)),
  '/app.js': await readFile(new URL('app.js', import.meta.url)),
  '/config.js': `export const gatehouse = ${JSON.stringify(GATEHOUSE_URL)}\n`,
}

createServer((request, response) => {
  const path = request.url.split('?', 1)[0]
  const file = files[path]
  if (file === undefined) return response.writeHead(404).end()
  const type = path === '/' ? types.html : types.js
  response.writeHead(200, { 'content-type': type, 'content-security-policy': policy }).end(file)
}).listen(Number(PORT), 'localhost', () => {
  process.stdout.write(`open http://localhost:${PORT}\n`)
})
