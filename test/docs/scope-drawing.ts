/** A scope of src/app.ts; `guards` are the plugins it registers, in order. */
export type Scope = { name: string; guards: string[]; scopes: Scope[] }

const opening = /^( *)await app\.register\(async function (\w+)\(app\)/
const registration = /^( *)await app\.register\((\w+)/
const plugin = /^import (\w+)(?:, \{ (\w+) \})? from '#plugins\/(?:[\w-]+\/)?([\w-]+)\.ts'/gm

/** The scopes in the source of src/app.ts, by the indentation that the formatter guarantees. */
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
  const root: Scope = { name: 'root', guards: [], scopes: [] }
  const around = [{ indent: -1, scope: root }]
  for (const line of source.split('\n')) {
    const opened = opening.exec(line)
    const [, indent = '', name = ''] = opened ?? registration.exec(line) ?? []
    if (name === '') continue
    while ((around.at(-1)?.indent ?? -1) >= indent.length) around.pop()
    const parent = around.at(-1)?.scope ?? root
    if (opened !== null) {
      const scope: Scope = { name, guards: [], scopes: [] }
      parent.scopes.push(scope)
      around.push({ indent: indent.length, scope })
    } else if (plugins.has(name)) {
      parent.guards.push(plugins.get(name) ?? name)
    }
  }
  return root
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
