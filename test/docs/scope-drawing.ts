/** A scope of src/app.ts; `guards` are the plugins it registers, in order. */
export type Scope = { name: string; guards: string[]; scopes: Scope[] }

const beginning = /^(?:export )?async function (\w+)\(/
const registration = /^ +await app\.register\((\w+)/
const call = /^ +await (\w+)\(app, /
const plugin = /^import (\w+)(?:, \{ (\w+) \})? from '#plugins\/(?:[\w-]+\/)?([\w-]+)\.ts'/gm

/** The scopes in the source of src/app.ts: `compose` registers a function for each, and calls one for what is in all. */
export function readScopes(source: string): Scope {
  const plugins = new Map<string, string>()
  for (const [, name = '', other, file = ''] of source.matchAll(plugin)) {
    plugins.set(name, file)
    // A second plugin of the file: `rateLimitStore` is `rate-limit-store`.
    if (other)
      plugins.set(
        other,
        other.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`),
      )
  }
  const functions = functionsIn(source)
  function scopeOf(name: string, lines: readonly string[]): Scope {
    const scope: Scope = { name, guards: [], scopes: [] }
    for (const line of lines) {
      const [, registered = ''] = registration.exec(line) ?? []
      const [, called = ''] = call.exec(line) ?? []
      const [inner, further] = [functions.get(registered), functions.get(called)]
      if (inner !== undefined) scope.scopes.push(scopeOf(registered, inner))
      else if (plugins.has(registered)) scope.guards.push(plugins.get(registered) ?? registered)
      if (further !== undefined) scope.guards.push(...scopeOf(called, further).guards)
    }
    return scope
  }
  return scopeOf('root', functions.get('compose') ?? [])
}

/** The lines of each function at the top of a module. */
function functionsIn(source: string): ReadonlyMap<string, readonly string[]> {
  const functions = new Map<string, string[]>()
  let current: string[] = []
  for (const line of source.split('\n')) {
    const [, name] = beginning.exec(line) ?? []
    if (line === '}' || name !== undefined) current = []
    if (name === undefined) current.push(line)
    else functions.set(name, current)
  }
  return functions
}

/** A Mermaid diagram with a box for each scope and its plugins. */
export function drawScopes(root: Scope): string {
  return `flowchart LR\n${boxesOf(root).join('\n')}\n${arrowsOf(root).join('\n')}\n`
}

function boxesOf({ name, guards, scopes }: Scope): string[] {
  return [`  ${name}["<b>${name}</b>${linesOf(guards)}"]`, ...scopes.flatMap(boxesOf)]
}

function arrowsOf({ name, scopes }: Scope): string[] {
  return scopes.flatMap((scope) => [`  ${name} --> ${scope.name}`, ...arrowsOf(scope)])
}

/** Two plugins per line, so that no name is wrapped. */
function linesOf(guards: readonly string[]): string {
  return guards.map((guard, index) => (index % 2 === 0 ? `<br>${guard}` : `, ${guard}`)).join('')
}
