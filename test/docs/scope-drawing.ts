/** A scope of src/app.ts: its guards are what it registers from plugins/, in order. */
export type Scope = { name: string; guards: string[]; routes: string[]; scopes: Scope[] }

const opening = /^(\s*)await app\.register\(async function (\w+)\(app\)/
const registration = /^(\s*)await app\.register\((\w+)/
const imported = /^import (?:\w+, )?\{?\s*(\w+).* from '(?:#(plugins|routes)\/)?([^']+?)(?:\.ts)?'/

/** The scopes as src/app.ts writes them: by indentation, which the formatter keeps honest. */
export function readScopes(source: string): Scope {
  const lines = source.split('\n')
  const files = new Map(
    lines.flatMap((line) => {
      const [, name = '', folder, file = ''] = imported.exec(line) ?? []
      return name === '' ? [] : [[name, { folder, file }] as const]
    }),
  )
  const root: Scope = { name: 'root', guards: [], routes: [], scopes: [] }
  const open: { indent: number; scope: Scope }[] = [{ indent: -1, scope: root }]
  for (const line of lines) {
    const [, indent = '', name = ''] = opening.exec(line) ?? registration.exec(line) ?? []
    if (name === '') continue
    while ((open.at(-1)?.indent ?? -1) >= indent.length) open.pop()
    const parent = open.at(-1)?.scope ?? root
    if (opening.test(line)) {
      const scope: Scope = { name, guards: [], routes: [], scopes: [] }
      parent.scopes.push(scope)
      open.push({ indent: indent.length, scope })
      continue
    }
    const { folder, file = name } = files.get(name) ?? {}
    parent[folder === 'routes' ? 'routes' : 'guards'].push(file)
  }
  return root
}

/** As Mermaid, which GitHub draws: a box for each scope with its guards and its routes. */
export function drawScopes(root: Scope): string {
  return `flowchart LR\n${draw(root).join('\n')}\n`
}

function draw({ name, guards, routes, scopes }: Scope): string[] {
  const routeText = routes.length === 0 ? [] : [`<i>${wrap(routes)}</i>`]
  const label = [`<b>${name}</b>`, ...(guards.length === 0 ? [] : [wrap(guards)]), ...routeText]
  return [
    `  ${name}["${label.join('<br>')}"]`,
    ...scopes.flatMap((scope) => [...draw(scope), `  ${name} --> ${scope.name}`]),
  ]
}

const namesInLine = 4

function wrap(names: readonly string[]): string {
  const lines = names.flatMap((_, index) =>
    index % namesInLine === 0 ? [names.slice(index, index + namesInLine).join(', ')] : [],
  )
  return lines.join(',<br>')
}
